//! Vectors of 8-bit numbers, and their products with the vector of a question.

#![expect(
    clippy::inline_always,
    reason = "only what is inlined into `with_simd` is compiled for the processor's instructions"
)]

use pulp::{Arch, Simd, WithSimd};

/// A vector as whole numbers from -127 to 127, times a scale. A vector of zeros has the scale 0.
pub(super) fn encode(vector: &[f32], codes: &mut Vec<i8>) -> f32 {
    let highest = vector
        .iter()
        .fold(0.0_f32, |high, value| high.max(value.abs()));
    let inverse = if highest > 0.0 { 127.0 / highest } else { 0.0 };
    codes.extend(vector.iter().map(|value| (value * inverse).round() as i8));
    highest / 127.0
}

/// The product of the question's codes with those of each row, scaled by the row's scale; handed to `found` in
/// order.
pub(super) fn scan(
    question: &[i8],
    codes: &[i8],
    scales: &[f32],
    found: &mut impl FnMut(usize, f32),
) {
    let question: Vec<i16> = question.iter().map(|&code| i16::from(code)).collect();
    Arch::new().dispatch(Scan {
        question: &question,
        codes,
        scales,
        found,
    });
}

/// The product of two vectors, in an order that does not depend on the processor.
pub(super) fn product(a: &[f32], b: &[f32]) -> f32 {
    const LANES: usize = 16;
    let mut sums = [0.0_f32; LANES];
    let (a_chunks, a_rest) = a.as_chunks::<LANES>();
    let (b_chunks, b_rest) = b.as_chunks::<LANES>();
    for (a, b) in a_chunks.iter().zip(b_chunks) {
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum += a * b;
        }
    }
    let rest: f32 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f32>() + rest
}

struct Scan<'a, F> {
    question: &'a [i16],
    codes: &'a [i8],
    scales: &'a [f32],
    found: &'a mut F,
}

impl<F: FnMut(usize, f32)> WithSimd for Scan<'_, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let rows = self.codes.chunks_exact(self.question.len().max(1));
        for (row, (codes, scale)) in rows.zip(self.scales).enumerate() {
            (self.found)(row, whole_product(self.question, codes) as f32 * scale);
        }
    }
}

/// Written so that the compiler multiplies pairs of 16-bit numbers into 32-bit sums.
#[inline(always)]
fn whole_product(question: &[i16], codes: &[i8]) -> i32 {
    question
        .iter()
        .zip(codes)
        .map(|(&q, &code)| i32::from(q) * i32::from(i16::from(code)))
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_keep_direction_and_length() {
        let vector = [0.5, -1.0, 0.25, 0.0];
        let mut codes = Vec::new();
        let scale = encode(&vector, &mut codes);
        assert_eq!(codes, [64, -127, 32, 0]);
        assert!((scale - 1.0 / 127.0).abs() < 1e-7);
        assert!(encode(&[0.0; 4], &mut codes).abs() < 1e-9);
        assert_eq!(codes[4..], [0; 4]);
    }

    #[test]
    fn every_row_is_multiplied() {
        let question = [127, -127, 1];
        let codes = [1, 0, 0, 0, 1, 0, 127, -127, 127];
        let mut rows = Vec::new();
        scan(&question, &codes, &[1.0, 2.0, 1.0], &mut |row, score| {
            rows.push((row, score));
        });
        assert_eq!(rows, [(0, 127.0), (1, -254.0), (2, 32385.0)]);
        scan(&[], &[], &[], &mut |_, _| unreachable!());
    }

    #[test]
    fn products_are_sums_of_products() {
        let a: Vec<f32> = (0..37).map(|n| n as f32).collect();
        let b = vec![2.0; 37];
        assert!((product(&a, &b) - 1332.0).abs() < 1e-3);
    }
}
