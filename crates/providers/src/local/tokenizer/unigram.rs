//! Unigram tokens (Kudo, 2018): the pieces whose probabilities multiply to the most.

use rayon::prelude::*;

use super::charsmap::CharacterMap;

/// Stands for the blank before a word.
const WORD_START: char = '\u{2581}';
/// How much less likely than the least likely piece an unknown character is, in logarithm.
const UNKNOWN_PENALTY: f64 = 10.0;

/// What happens to a text first.
#[derive(Debug)]
pub(in crate::local) enum Normaliser {
    /// As `SentencePiece` compiles it.
    Compiled(CharacterMap),
    /// Character by character, sorted by the first.
    CharacterMap(Vec<(char, String)>),
}

/// A vocabulary of pieces with their logarithmic probabilities.
#[derive(Debug)]
pub(in crate::local) struct Unigram {
    /// Piece `n` is `blob[offsets[n]..offsets[n + 1]]`.
    offsets: Vec<u32>,
    scores: Vec<f32>,
    blob: Vec<u8>,
    unknown: u32,
    unknown_score: f64,
    normaliser: Normaliser,
    /// Pieces in the order of their bytes.
    sorted: Vec<u32>,
    /// Where in `sorted` the pieces begin that start with these two bytes or more.
    starts: Vec<u32>,
}

impl Unigram {
    /// Fails with a reason when the offsets do not describe the blob.
    pub(in crate::local) fn new(
        offsets: Vec<u32>,
        scores: Vec<f32>,
        blob: Vec<u8>,
        unknown: u32,
        mut normaliser: Normaliser,
    ) -> Result<Self, String> {
        let is_sound = offsets.len() == scores.len() + 1
            && (unknown as usize) < scores.len()
            && offsets.is_sorted()
            && offsets
                .last()
                .is_some_and(|&end| end as usize <= blob.len());
        if !is_sound {
            return Err("the tokenizer's pieces do not fit together".to_owned());
        }
        if let Normaliser::CharacterMap(map) = &mut normaliser {
            map.sort_unstable();
        }
        let piece =
            |id: u32| &blob[offsets[id as usize] as usize..offsets[id as usize + 1] as usize];
        let mut entries: Vec<(u64, u32)> = (0..scores.len() as u32)
            .filter(|&id| id != unknown && !piece(id).is_empty())
            .map(|id| (prefix(piece(id)), id))
            .collect();
        entries.par_sort_unstable_by(|a, b| {
            let rest = || piece(a.1).cmp(piece(b.1)).then(a.1.cmp(&b.1));
            a.0.cmp(&b.0).then_with(rest)
        });
        let sorted: Vec<u32> = entries.into_iter().map(|entry| entry.1).collect();
        let mut starts = vec![0; 65_537];
        for &id in &sorted {
            starts[usize::from(first_two(piece(id))) + 1] += 1;
        }
        for n in 1..starts.len() {
            starts[n] += starts[n - 1];
        }
        let least = scores.iter().copied().fold(f32::INFINITY, f32::min);
        Ok(Self {
            unknown_score: f64::from(least) - UNKNOWN_PENALTY,
            offsets,
            scores,
            blob,
            unknown,
            normaliser,
            sorted,
            starts,
        })
    }

    pub(in crate::local) fn tokens(&self, text: &str) -> Vec<u32> {
        let text = self.normalise(text);
        let mut tokens = Vec::new();
        let mut lattice = Lattice::default();
        let mut word = String::new();
        for written in text
            .split_whitespace()
            .flat_map(|word| word.split(WORD_START))
        {
            if !written.is_empty() {
                word.clear();
                word.push(WORD_START);
                word.push_str(written);
                self.split(&word, &mut lattice, &mut tokens);
            }
        }
        tokens
    }

    fn normalise(&self, text: &str) -> String {
        match &self.normaliser {
            Normaliser::Compiled(map) => map.apply(text),
            Normaliser::CharacterMap(map) => {
                let mut result = String::with_capacity(text.len());
                for character in text.chars() {
                    match map.binary_search_by_key(&character, |entry| entry.0) {
                        Ok(place) => result.push_str(&map[place].1),
                        Err(_) => result.push(character),
                    }
                }
                result
            }
        }
    }

    /// The best path through a word (Viterbi), appended to `tokens`. Neighbouring unknown characters are one token.
    fn split(&self, word: &str, lattice: &mut Lattice, tokens: &mut Vec<u32>) {
        let bytes = word.as_bytes();
        lattice.reset(bytes.len());
        for (from, character) in word.char_indices() {
            let before = lattice.best[from].score;
            let single = from + character.len_utf8();
            let mut has_single = false;
            self.pieces_at(&bytes[from..], |id, length| {
                let score = before + f64::from(self.scores[id as usize]);
                lattice.offer(from, from + length, id, score);
                has_single |= from + length == single;
            });
            if !has_single {
                lattice.offer(from, single, self.unknown, before + self.unknown_score);
            }
        }
        let begin = tokens.len();
        let mut end = bytes.len();
        while end > 0 {
            let Step { id, from, .. } = lattice.best[end];
            let is_repeated = id == self.unknown && tokens[begin..].last() == Some(&self.unknown);
            if !is_repeated {
                tokens.push(id);
            }
            end = from;
        }
        tokens[begin..].reverse();
    }

    /// All pieces that `text` begins with, shortest first, by narrowing the range of the sorted ones byte by byte.
    fn pieces_at(&self, text: &[u8], mut found: impl FnMut(u32, usize)) {
        let Some(&first) = text.first() else {
            return;
        };
        let slot = usize::from(first) << 8;
        let single = self.starts[slot] as usize;
        if let Some(&id) = self.sorted.get(single)
            && self.piece(id) == [first]
        {
            found(id, 1);
        }
        let Some(&second) = text.get(1) else {
            return;
        };
        let slot = slot | usize::from(second);
        let mut range = &self.sorted[self.starts[slot] as usize..self.starts[slot + 1] as usize];
        let mut length = 2;
        loop {
            // A piece that ends here comes before those that go on.
            let Some(&id) = range.first() else {
                return;
            };
            if self.piece(id).len() == length {
                found(id, length);
                range = &range[1..];
            }
            let Some(&next) = text.get(length) else {
                return;
            };
            let byte = |id: &u32| self.piece(*id)[length];
            let low = range.partition_point(|id| byte(id) < next);
            range = &range[low..];
            let high = range.partition_point(|id| byte(id) == next);
            range = &range[..high];
            length += 1;
        }
    }

    fn piece(&self, id: u32) -> &[u8] {
        let id = id as usize;
        &self.blob[self.offsets[id] as usize..self.offsets[id + 1] as usize]
    }
}

/// The first eight bytes as a number that sorts like them.
fn prefix(piece: &[u8]) -> u64 {
    let mut bytes = [0; 8];
    let length = piece.len().min(8);
    bytes[..length].copy_from_slice(&piece[..length]);
    u64::from_be_bytes(bytes)
}

fn first_two(piece: &[u8]) -> u16 {
    u16::from_be_bytes([piece[0], piece.get(1).copied().unwrap_or(0)])
}

/// How a place in a word is best reached.
#[derive(Debug, Clone, Copy)]
struct Step {
    score: f64,
    id: u32,
    from: usize,
}

#[derive(Debug, Default)]
struct Lattice {
    best: Vec<Step>,
}

impl Lattice {
    fn reset(&mut self, length: usize) {
        let unreached = Step {
            score: f64::NEG_INFINITY,
            id: 0,
            from: 0,
        };
        self.best.clear();
        self.best.resize(length + 1, unreached);
        self.best[0].score = 0.0;
    }

    fn offer(&mut self, from: usize, to: usize, id: u32, score: f64) {
        let best = &mut self.best[to];
        if score > best.score {
            *best = Step { score, id, from };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unigram(pieces: &[(&str, f32)]) -> Unigram {
        let mut offsets = vec![0];
        let mut blob = Vec::new();
        for (piece, _) in pieces {
            blob.extend(piece.bytes());
            offsets.push(blob.len() as u32);
        }
        let scores = pieces.iter().map(|piece| piece.1).collect();
        let map = vec![('ﬁ', "fi".to_owned()), ('\t', " ".to_owned())];
        Unigram::new(offsets, scores, blob, 0, Normaliser::CharacterMap(map)).unwrap()
    }

    #[test]
    fn the_likeliest_pieces_win() {
        let unigram = unigram(&[
            ("<unk>", 0.0),
            ("▁", -3.0),
            ("a", -4.0),
            ("b", -4.0),
            ("ab", -5.0),
            ("▁ab", -9.5),
            ("▁a", -5.0),
            ("fi", -2.0),
            ("é", -2.0),
        ]);
        let check = |text, expected: &[u32]| assert_eq!(unigram.tokens(text), expected, "{text}");
        check("ab", &[1, 4]);
        check("a", &[6]);
        check("aab", &[6, 4]);
        check("  a\tb \n", &[6, 1, 3]);
        check("ﬁa", &[1, 7, 2]);
        check("aéé", &[6, 8, 8]);
        check("axyé", &[6, 0, 8]);
        check("", &[]);
        check(" ▁ ", &[]);
    }

    #[test]
    fn pieces_that_do_not_fit_together_are_refused() {
        let map = || Normaliser::CharacterMap(Vec::new());
        assert!(Unigram::new(vec![0, 9], vec![0.0], b"abc".to_vec(), 0, map()).is_err());
        assert!(Unigram::new(vec![0, 1], vec![0.0], b"abc".to_vec(), 3, map()).is_err());
        assert!(Unigram::new(vec![2, 1], vec![0.0], b"abc".to_vec(), 0, map()).is_err());
    }
}
