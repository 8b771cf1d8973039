use rustc_hash::FxHashMap;

/// For each of `count` communities, the earlier community that it continues: the one it shares most members with, if
/// that is more than half of either. `before` and `labels` hold one community a node, none where there was none.
/// Each earlier community is continued once, and none of `taken` is.
pub fn continued(
    before: &[Option<i64>],
    labels: &[Option<u32>],
    count: usize,
    taken: &[i64],
) -> Vec<Option<i64>> {
    let mut shared: FxHashMap<(u32, i64), usize> = FxHashMap::default();
    let mut size_before: FxHashMap<i64, usize> = FxHashMap::default();
    let mut size = vec![0_usize; count];
    for (before, label) in before.iter().zip(labels) {
        if let Some(before) = before {
            *size_before.entry(*before).or_default() += 1;
        }
        if let Some(label) = label {
            size[*label as usize] += 1;
        }
        if let (Some(before), Some(label)) = (before, label) {
            *shared.entry((*label, *before)).or_default() += 1;
        }
    }
    let mut pairs: Vec<(usize, u32, i64)> = shared
        .into_iter()
        .filter(|&((label, before), both)| {
            2 * both > size[label as usize] && 2 * both > size_before[&before]
        })
        .filter(|((_, before), _)| !taken.contains(before))
        .map(|((label, before), both)| (both, label, before))
        .collect();
    pairs.sort_unstable_by_key(|&(both, label, before)| (std::cmp::Reverse(both), label, before));
    let mut found = vec![None; count];
    for (_, label, before) in pairs {
        // More than half of both sides: no other pair can have either of them.
        found[label as usize] = Some(before);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_community_is_continued_by_the_one_with_most_of_its_members() {
        let check = |before: &[i64], labels: &[u32], expected: &[Option<i64>]| {
            let before: Vec<_> = before.iter().map(|&id| (id > 0).then_some(id)).collect();
            let labels: Vec<_> = labels.iter().map(|&label| Some(label)).collect();
            assert_eq!(continued(&before, &labels, expected.len(), &[9]), expected);
        };
        check(&[5, 5, 7, 7], &[0, 0, 1, 1], &[Some(5), Some(7)]);
        check(&[5, 5, 5, 7], &[1, 1, 0, 0], &[None, Some(5)]);
        check(&[5, 5, 0, 0], &[0, 0, 0, 0], &[None]);
        check(&[9, 9], &[0, 0], &[None]);
        check(&[], &[], &[]);
    }
}
