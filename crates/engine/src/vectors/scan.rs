//! Products of a question with every row of 4-bit codes: what the search spends its time on.

#![expect(
    clippy::inline_always,
    reason = "only what is inlined into a vectorised function is compiled for the processor's instructions"
)]

use pulp::{Arch, Simd, WithSimd};

use super::code::{BLOCK, Codes, OFFSET, Question};

/// Rows that one call looks at.
pub(super) const PIECE: usize = 4096;

/// How far, in standard deviations of the rounding error, a score may be above what the codes say.
const DEVIATIONS: f32 = 5.0;

/// What a score may be off by, for a row whose scale is 1: each number is off by an even amount of up to half a
/// step, which makes a twelfth of a squared step on average.
pub(super) fn slack(question: &Question) -> f32 {
    DEVIATIONS * question.length / 12.0_f32.sqrt()
}

/// The highest score that each of up to [`PIECE`] rows from `first` on may have, in the question's own unit.
pub(super) fn highest_scores(
    question: &Question,
    slack: f32,
    codes: &Codes,
    first: usize,
    scores: &mut [f32],
) {
    let width = codes.width;
    let rows = Rows {
        question,
        slack,
        blocks: &codes.blocks[first * width..(first + scores.len()) * width],
        scales: &codes.scales[first..first + scores.len()],
        scores,
    };
    if width == 0 {
        rows.scores.fill(0.0);
    } else {
        run(rows);
    }
}

struct Rows<'a> {
    question: &'a Question,
    slack: f32,
    blocks: &'a [[u8; BLOCK]],
    scales: &'a [f32],
    scores: &'a mut [f32],
}

/// How a processor multiplies a block.
trait Lanes: Copy {
    type Sums: Copy;

    fn zero(self) -> Self::Sums;

    /// Adds the products of a block's half bytes, as they are stored, with the question's numbers.
    fn add(
        self,
        sums: Self::Sums,
        block: &[u8; BLOCK],
        low: &[i8; BLOCK],
        high: &[i8; BLOCK],
    ) -> Self::Sums;

    fn total(self, sums: Self::Sums) -> i32;
}

impl Rows<'_> {
    /// `STREAMS` rows at once, far from one another: memory answers several places sooner than one.
    #[inline(always)]
    fn multiply<L: Lanes, const STREAMS: usize>(self, lanes: L) {
        let width = self.question.low.len();
        let offset = OFFSET * self.question.sum;
        let apart = self.scores.len() / STREAMS;
        let score = |sum: i32, scale: f32| (((sum - offset) as f32) + self.slack) * scale;
        let question = || self.question.low.iter().zip(&self.question.high);
        for row in 0..apart {
            let mut sums = [lanes.zero(); STREAMS];
            for (place, (low, high)) in question().enumerate() {
                for (stream, sums) in sums.iter_mut().enumerate() {
                    let block = &self.blocks[(stream * apart + row) * width + place];
                    *sums = lanes.add(*sums, block, low, high);
                }
            }
            for (stream, sums) in sums.into_iter().enumerate() {
                let at = stream * apart + row;
                self.scores[at] = score(lanes.total(sums), self.scales[at]);
            }
        }
        for at in STREAMS * apart..self.scores.len() {
            let row = &self.blocks[at * width..][..width];
            let sums = question()
                .zip(row)
                .fold(lanes.zero(), |sums, ((low, high), block)| {
                    lanes.add(sums, block, low, high)
                });
            self.scores[at] = score(lanes.total(sums), self.scales[at]);
        }
    }
}

/// Whatever the compiler makes of it.
#[derive(Clone, Copy)]
struct Plain;

impl Lanes for Plain {
    type Sums = i32;

    #[inline(always)]
    fn zero(self) -> i32 {
        0
    }

    #[inline(always)]
    fn add(self, sum: i32, block: &[u8; BLOCK], low: &[i8; BLOCK], high: &[i8; BLOCK]) -> i32 {
        // Written so that pairs of 16-bit numbers are multiplied into 32-bit sums.
        let product =
            |half: u8, number: i8| i32::from(i16::from(half)) * i32::from(i16::from(number));
        let halves = block.iter().zip(low).zip(high);
        sum + halves
            .map(|((&byte, &low), &high)| product(byte & 15, low) + product(byte >> 4, high))
            .sum::<i32>()
    }

    #[inline(always)]
    fn total(self, sum: i32) -> i32 {
        sum
    }
}

impl WithSimd for Rows<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        self.multiply::<_, 1>(Plain);
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn run(rows: Rows<'_>) {
    Arch::new().dispatch(rows);
}

#[cfg(target_arch = "x86_64")]
fn run(rows: Rows<'_>) {
    match Arch::new() {
        Arch::V4(lanes) => lanes.vectorize(x86::On(lanes, rows)),
        Arch::V3(lanes) => lanes.vectorize(x86::On(lanes, rows)),
        other => other.dispatch(rows),
    }
}

/// Instructions that multiply 64, or 32, pairs of bytes at once.
#[cfg(target_arch = "x86_64")]
mod x86 {
    use pulp::x86::{V3, V4};
    use pulp::{NullaryFnOnce, cast, i8x32, i8x64, i32x8, i32x16, u8x32, u8x64, u16x16, u16x32};

    use super::{BLOCK, Lanes, Rows};

    const HALF: u16 = 0x0f0f;

    pub(super) struct On<'a, L>(pub L, pub Rows<'a>);

    impl NullaryFnOnce for On<'_, V4> {
        type Output = ();

        #[inline(always)]
        fn call(self) {
            self.1.multiply::<_, 8>(self.0);
        }
    }

    impl NullaryFnOnce for On<'_, V3> {
        type Output = ();

        #[inline(always)]
        fn call(self) {
            self.1.multiply::<_, 4>(self.0);
        }
    }

    impl Lanes for V4 {
        type Sums = i32x16;

        #[inline(always)]
        fn zero(self) -> i32x16 {
            self.splat_i32x16(0)
        }

        #[inline(always)]
        fn add(
            self,
            sums: i32x16,
            block: &[u8; BLOCK],
            low: &[i8; BLOCK],
            high: &[i8; BLOCK],
        ) -> i32x16 {
            let (half, one) = (self.splat_u16x32(HALF), self.splat_i16x32(1));
            let block: u16x32 = cast(*block);
            let lower: u8x64 = cast(self.and_u16x32(block, half));
            let upper: u8x64 = cast(self.and_u16x32(self.shr_const_u16x32::<4>(block), half));
            let (low, high): (i8x64, i8x64) = (cast(*low), cast(*high));
            // Two products are at most 2 * 15 * 127: their sum of four fits in 16 bits.
            let lower = self.multiply_saturating_add_adjacent_i8x64(cast(lower), low);
            let upper = self.multiply_saturating_add_adjacent_i8x64(cast(upper), high);
            let both = self.wrapping_add_i16x32(lower, upper);
            self.wrapping_add_i32x16(sums, self.multiply_wrapping_add_adjacent_i16x32(both, one))
        }

        #[inline(always)]
        fn total(self, sums: i32x16) -> i32 {
            let sums: [i32; 16] = cast(sums);
            sums.iter().sum()
        }
    }

    impl Lanes for V3 {
        type Sums = i32x8;

        #[inline(always)]
        fn zero(self) -> i32x8 {
            self.splat_i32x8(0)
        }

        #[inline(always)]
        fn add(
            self,
            mut sums: i32x8,
            block: &[u8; BLOCK],
            low: &[i8; BLOCK],
            high: &[i8; BLOCK],
        ) -> i32x8 {
            let (half, one) = (self.splat_u16x16(HALF), self.splat_i16x16(1));
            let blocks: [u16x16; 2] = cast(*block);
            let (low, high): ([i8x32; 2], [i8x32; 2]) = (cast(*low), cast(*high));
            for ((block, low), high) in blocks.into_iter().zip(low).zip(high) {
                let lower: u8x32 = cast(self.and_u16x16(block, half));
                let upper: u8x32 = cast(self.and_u16x16(self.shr_const_u16x16::<4>(block), half));
                let lower = self.multiply_saturating_add_adjacent_i8x32(cast(lower), low);
                let upper = self.multiply_saturating_add_adjacent_i8x32(cast(upper), high);
                let both = self.wrapping_add_i16x16(lower, upper);
                let both = self.multiply_wrapping_add_adjacent_i16x16(both, one);
                sums = self.wrapping_add_i32x8(sums, both);
            }
            sums
        }

        #[inline(always)]
        fn total(self, sums: i32x8) -> i32 {
            let sums: [i32; 8] = cast(sums);
            sums.iter().sum()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers between -1 and 1, the same on every run.
    fn numbers(count: usize, seed: u32) -> Vec<f32> {
        let mut state = seed;
        (0..count)
            .map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 8) as f32 / 8_388_608.0 - 1.0
            })
            .collect()
    }

    fn codes(dimensions: usize, rows: usize) -> Codes {
        let mut codes = Codes::new(dimensions);
        for vector in numbers(dimensions * rows, 5).chunks_exact(dimensions) {
            codes.push(vector);
        }
        codes
    }

    #[test]
    #[expect(clippy::float_cmp, reason = "whole numbers times a scale")]
    fn every_processor_gives_the_plain_products() {
        for (dimensions, count) in [(1, 1), (5, 9), (128, 16), (384, 100), (700, 33)] {
            let codes = codes(dimensions, count);
            let question = Question::new(&numbers(dimensions, 9));
            let mut scores = vec![0.0; count];
            highest_scores(&question, 0.5, &codes, 0, &mut scores);
            let mut plain = vec![0.0; count];
            let rows = Rows {
                question: &question,
                slack: 0.5,
                blocks: &codes.blocks,
                scales: &codes.scales,
                scores: &mut plain,
            };
            rows.multiply::<_, 3>(Plain);
            assert_eq!(scores, plain, "{dimensions} x {count}");
            // One row by hand.
            let sum: i32 = (0..dimensions)
                .map(|at| {
                    let (block, at) = (at / 128, at % 128);
                    let byte = codes.blocks[block][at % 64];
                    let (half, number) = if at < 64 {
                        (byte & 15, question.low[block][at % 64])
                    } else {
                        (byte >> 4, question.high[block][at % 64])
                    };
                    (i32::from(half) - OFFSET) * i32::from(number)
                })
                .sum();
            assert_eq!(scores[0], (sum as f32 + 0.5) * codes.scales[0]);
        }
    }

    #[test]
    fn a_piece_in_the_middle_has_its_own_rows() {
        let codes = codes(64, 50);
        let question = Question::new(&numbers(64, 1));
        let mut all = vec![0.0; 50];
        highest_scores(&question, 0.0, &codes, 0, &mut all);
        let mut part = vec![0.0; 11];
        highest_scores(&question, 0.0, &codes, 20, &mut part);
        assert_eq!(part, all[20..31]);
    }

    #[test]
    fn hardly_any_score_is_above_what_the_codes_allow() {
        let vectors = numbers(384 * 2000, 3);
        let mut codes = Codes::new(384);
        for vector in vectors.chunks_exact(384) {
            codes.push(vector);
        }
        let vector = numbers(384, 77);
        let question = Question::new(&vector);
        let unit = 127.0
            / vector
                .iter()
                .fold(0.0_f32, |high, value| high.max(value.abs()));
        let mut scores = vec![0.0; 2000];
        highest_scores(&question, slack(&question), &codes, 0, &mut scores);
        for (row, highest) in vectors.chunks_exact(384).zip(&scores) {
            let exact: f32 = row.iter().zip(&vector).map(|(a, b)| a * b).sum();
            assert!(exact * unit <= *highest);
        }
    }
}
