/// A sentence that may become part of an answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Piece {
    pub score: f64,
    /// Which words of the question it holds, by bit.
    pub words: u64,
}

/// A sentence is told only when it is worth at least this share of the best one.
const LEAST_SHARE: f64 = 0.5;
/// What a word that no chosen sentence holds yet is worth, as a share of the best score.
const NEW_WORD: f64 = 0.15;

/// Positions of at most `most` sentences that answer together, best first: each adds its own worth and the words of
/// the question that the ones before it lack.
pub fn extract(pieces: &[Piece], most: usize) -> Vec<usize> {
    let best = pieces.iter().map(|piece| piece.score).fold(0.0, f64::max);
    let mut chosen: Vec<usize> = Vec::new();
    let mut held = 0_u64;
    while chosen.len() < most {
        let worth = |piece: &Piece| {
            piece.score + NEW_WORD * best * f64::from((piece.words & !held).count_ones())
        };
        let next = pieces
            .iter()
            .enumerate()
            .filter(|(at, piece)| {
                !chosen.contains(at) && piece.words != 0 && piece.score >= LEAST_SHARE * best
            })
            .max_by(|a, b| worth(a.1).total_cmp(&worth(b.1)).then(b.0.cmp(&a.0)));
        let Some((at, piece)) = next else { break };
        // The first answers; later ones must say something new.
        if !chosen.is_empty() && piece.words & !held == 0 && piece.score < 0.8 * best {
            break;
        }
        held |= piece.words;
        chosen.push(at);
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_complete_each_other() {
        let check = |pieces: &[(f64, u64)], expected: &[usize]| {
            let pieces: Vec<Piece> = pieces
                .iter()
                .map(|&(score, words)| Piece { score, words })
                .collect();
            assert_eq!(extract(&pieces, 3), expected);
        };
        check(&[], &[]);
        check(&[(1.0, 0)], &[]);
        check(&[(1.0, 0b1), (2.0, 0b1)], &[1]);
        check(&[(2.0, 0b011), (1.7, 0b011), (1.5, 0b100)], &[0, 2, 1]);
        check(&[(2.0, 0b1), (0.5, 0b10)], &[0]);
    }
}
