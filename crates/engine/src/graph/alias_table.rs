use std::collections::BTreeMap;

use super::linking::{AliasIndex, LEAST_RATIO, Overlap, SHORTEST};
use crate::Result;
use crate::types::EntityId;

/// All aliases of a store in memory: sorted arrays, about 90 bytes a row. No question scans them.
#[derive(Debug)]
pub struct AliasTable {
    folded: Names,
    squashed: Names,
    /// Characters of the longest squashed alias.
    longest: usize,
    /// (hash of a middle piece, place of its squashed alias), sorted.
    middles: Vec<(u32, u32)>,
}

impl AliasTable {
    /// From folded aliases and their entities, in any order. Squashed is folded without spaces.
    pub fn new(aliases: impl Iterator<Item = (String, EntityId)>) -> Self {
        let mut rows: Vec<(String, EntityId)> = aliases.filter(|row| !row.0.is_empty()).collect();
        let folded = Names::new(&mut rows);
        for (alias, _) in &mut rows {
            alias.retain(|c| c != ' ');
        }
        let squashed = Names::new(&mut rows);
        drop(rows);
        let mut longest = 0;
        let mut middles = Vec::new();
        for place in 0..squashed.len() {
            let alias = squashed.name(place);
            let chars: Vec<char> = alias.chars().collect();
            longest = longest.max(chars.len());
            if chars.len() >= SHORTEST {
                middles.extend(middle_pieces(&chars).map(|piece| (piece, place as u32)));
            }
        }
        middles.sort_unstable();
        middles.dedup();
        middles.shrink_to_fit();
        Self {
            folded,
            squashed,
            longest,
            middles,
        }
    }

    /// Number of distinct folded aliases.
    pub fn len(&self) -> usize {
        self.folded.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.folded.len() == 0
    }

    /// Places of the squashed aliases that stand in `form` (whose characters start at `starts`) and are long
    /// enough, with their lengths in characters.
    fn contained(
        &self,
        form: &str,
        chars: usize,
        starts: &[usize],
        found: &mut BTreeMap<usize, usize>,
    ) {
        let shortest = SHORTEST.max((chars as f64 * LEAST_RATIO).ceil() as usize);
        for first in 0..chars {
            if first + shortest > chars {
                break;
            }
            // Among the aliases not after `rest`, the last one either is its start or shares a start with
            // it; all further aliases that are starts of `rest` are starts of what they share.
            let least = starts[first + shortest] - starts[first];
            let mut rest = &form[starts[first]..];
            while rest.len() >= least {
                let Some(place) = self.squashed.last_not_after(rest) else {
                    break;
                };
                let alias = self.squashed.name(place);
                let shared = shared_start(alias, rest);
                if shared == alias.len() {
                    if shared >= least {
                        found.insert(place, alias.chars().count());
                    }
                    let Some((last, _)) = alias.char_indices().next_back() else {
                        break;
                    };
                    rest = &rest[..last];
                } else {
                    rest = &rest[..shared];
                }
            }
        }
    }

    /// Places of the squashed aliases that contain `form` and are short enough, with their lengths.
    fn containing(&self, form: &str, chars: &[char], found: &mut BTreeMap<usize, usize>) {
        let greatest = ((chars.len() as f64 / LEAST_RATIO) as usize).min(self.longest);
        let mut keys: Vec<u32> = Vec::new();
        for length in chars.len().max(SHORTEST)..=greatest {
            keys.extend(pieces_to_look_for(chars, length));
        }
        keys.sort_unstable();
        keys.dedup();
        for key in keys {
            let first = self.middles.partition_point(|&(piece, _)| piece < key);
            let same = self.middles[first..].iter().take_while(|row| row.0 == key);
            for &(_, place) in same {
                let alias = self.squashed.name(place as usize);
                if alias.len() >= form.len() && alias.contains(form) {
                    let length = alias.chars().count();
                    if length <= greatest {
                        found.insert(place as usize, length);
                    }
                }
            }
        }
    }
}

impl AliasIndex for AliasTable {
    fn exact(&self, folded: &str) -> Result<Vec<EntityId>> {
        Ok(self.folded.find(folded).to_vec())
    }

    fn squashed(&self, form: &str) -> Result<Vec<EntityId>> {
        Ok(self.squashed.find(form).to_vec())
    }

    fn overlapping(&self, form: &str) -> Result<Vec<Overlap>> {
        let chars: Vec<char> = form.chars().collect();
        let mut starts: Vec<usize> = form.char_indices().map(|(start, _)| start).collect();
        starts.push(form.len());
        // Ordered by alias, so that the answer has an order.
        let mut found = BTreeMap::new();
        self.contained(form, chars.len(), &starts, &mut found);
        self.containing(form, &chars, &mut found);
        let overlaps = found.into_iter().flat_map(|(place, length)| {
            let (short, long) = (length.min(chars.len()), length.max(chars.len()));
            let ratio = short as f64 / long as f64;
            let entities = self.squashed.entities(place).iter();
            entities.map(move |&entity| Overlap { entity, ratio })
        });
        Ok(overlaps
            .filter(|overlap| overlap.ratio >= LEAST_RATIO)
            .collect())
    }
}

/// An alias of `n` characters has two middle pieces, one that ends and one that starts behind its first
/// `n / 2` characters, both this long. Whatever covers at least half of the alias covers one of them whole.
fn piece_length(n: usize) -> usize {
    n.div_ceil(2).div_ceil(2)
}

/// Pieces shorter than this are too common to be looked up alone: their hash tells the alias's length too.
const LONG_PIECE: usize = 6;

fn hash(piece: &[char], n: usize, side: u32) -> u32 {
    let length = piece.len();
    // FNV-1a over characters.
    let seed = if length < LONG_PIECE {
        (n as u32) << 1 | side
    } else {
        length as u32
    };
    let start = 0x811C_9DC5 ^ seed.wrapping_mul(0x0100_0193);
    piece.iter().fold(start, |hash, &c| {
        (hash ^ c as u32).wrapping_mul(0x0100_0193).rotate_left(5)
    })
}

fn middle_pieces(alias: &[char]) -> impl Iterator<Item = u32> {
    let n = alias.len();
    let middle = n / 2;
    let length = piece_length(n);
    [
        hash(&alias[middle - length..middle], n, 0),
        hash(&alias[middle..middle + length], n, 1),
    ]
    .into_iter()
}

/// Hashes of the pieces of `form` that are a middle piece of an alias of `n` characters if it contains `form`.
fn pieces_to_look_for(form: &[char], n: usize) -> impl Iterator<Item = u32> {
    let length = piece_length(n);
    let spare = n - form.len();
    let places = move |piece_start: usize| {
        // The alias has `offset` characters before the form.
        (0..=spare)
            .filter_map(move |offset| piece_start.checked_sub(offset))
            .filter_map(move |start| form.get(start..start + length))
    };
    let left = places(n / 2 - length).map(move |piece| hash(piece, n, 0));
    left.chain(places(n / 2).map(move |piece| hash(piece, n, 1)))
}

/// Bytes that two texts share at their start, up to a character's end.
fn shared_start(a: &str, b: &str) -> usize {
    let same = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    let mut end = same;
    while !a.is_char_boundary(end) {
        end -= 1;
    }
    end
}

/// Distinct names in order, one after another in one text, each with its entities.
#[derive(Debug)]
struct Names {
    text: String,
    /// Where each name starts; one more entry than names.
    starts: Vec<u32>,
    entity_starts: Vec<u32>,
    entities: Vec<EntityId>,
}

impl Names {
    /// Sorts the rows on the way.
    fn new(rows: &mut [(String, EntityId)]) -> Self {
        rows.sort_unstable();
        let mut names = Self {
            text: String::with_capacity(rows.iter().map(|row| row.0.len()).sum()),
            starts: Vec::new(),
            entity_starts: Vec::new(),
            entities: Vec::new(),
        };
        for same in rows.chunk_by(|a, b| a.0 == b.0) {
            names.starts.push(names.text.len() as u32);
            names.entity_starts.push(names.entities.len() as u32);
            names.text.push_str(&same[0].0);
            let before = names.entities.len();
            for &(_, entity) in same {
                if names.entities[before..].last() != Some(&entity) {
                    names.entities.push(entity);
                }
            }
        }
        assert!(
            u32::try_from(names.text.len()).is_ok(),
            "the aliases of a store are shorter than 4 GiB together"
        );
        names.starts.push(names.text.len() as u32);
        names.entity_starts.push(names.entities.len() as u32);
        names.text.shrink_to_fit();
        names.starts.shrink_to_fit();
        names.entity_starts.shrink_to_fit();
        names.entities.shrink_to_fit();
        names
    }

    fn len(&self) -> usize {
        self.starts.len() - 1
    }

    fn name(&self, place: usize) -> &str {
        &self.text[self.starts[place] as usize..self.starts[place + 1] as usize]
    }

    fn entities(&self, place: usize) -> &[EntityId] {
        &self.entities[self.entity_starts[place] as usize..self.entity_starts[place + 1] as usize]
    }

    /// Number of names that are not after `text`.
    fn upper_bound(&self, text: &str) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            if self.name(middle) <= text {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    fn last_not_after(&self, text: &str) -> Option<usize> {
        self.upper_bound(text).checked_sub(1)
    }

    fn find(&self, name: &str) -> &[EntityId] {
        match self.last_not_after(name) {
            Some(place) if self.name(place) == name => self.entities(place),
            _ => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn equals_a_scan_of_every_alias(
            aliases in proptest::collection::vec("[abcé]{1,14}", 0..60),
            form in "[abcé]{1,16}",
        ) {
            let table = AliasTable::new(aliases.iter().cloned().zip((0..).map(EntityId)));
            let mut found = table.overlapping(&form).unwrap();
            found.sort_by_key(|overlap| overlap.entity);
            let length = form.chars().count();
            let mut expected = Vec::new();
            for (alias, entity) in aliases.iter().zip((0..).map(EntityId)) {
                let chars = alias.chars().count();
                let ratio = chars.min(length) as f64 / chars.max(length) as f64;
                let contains = alias.contains(&form) || form.contains(alias.as_str());
                if chars >= SHORTEST && contains && ratio >= LEAST_RATIO {
                    expected.push(Overlap { entity, ratio });
                }
            }
            prop_assert_eq!(found, expected);
            for (alias, entity) in aliases.iter().zip((0..).map(EntityId)) {
                prop_assert!(table.exact(alias).unwrap().contains(&entity));
                prop_assert!(table.squashed(alias).unwrap().contains(&entity));
            }
        }
    }

    #[test]
    fn whatever_covers_half_covers_a_middle_piece() {
        for n in SHORTEST..120 {
            let middle = n / 2;
            let length = piece_length(n);
            for form in n.div_ceil(2)..=n {
                for offset in 0..=n - form {
                    let covers = |start| offset <= start && start + length <= offset + form;
                    assert!(
                        covers(middle - length) || covers(middle),
                        "{n} {form} {offset}"
                    );
                }
            }
        }
    }

    #[test]
    fn spaces_are_squashed_and_no_alias_is_no_table() {
        let empty = AliasTable::new(std::iter::empty());
        assert!(empty.is_empty());
        assert!(empty.overlapping("abcd").unwrap().is_empty());
        assert!(empty.exact("a").unwrap().is_empty());
        let table = AliasTable::new([("new york".to_owned(), EntityId(1))].into_iter());
        assert_eq!(table.len(), 1);
        assert_eq!(table.squashed("newyork").unwrap(), [EntityId(1)]);
        assert!(table.exact("newyork").unwrap().is_empty());
    }
}
