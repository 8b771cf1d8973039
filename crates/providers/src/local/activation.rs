//! What happens between the products: normalisation, activation, softmax. Loops over slices that the
//! compiler turns into vectors of the width that `pulp` finds.

#![expect(
    clippy::inline_always,
    reason = "only what is inlined into `with_simd` is compiled for the processor's instructions"
)]

use pulp::{Arch, Simd, WithSimd};

/// Adds `added` (if it is not empty) to `x`, then normalises each row to mean 0 and variance 1, scaled and shifted.
pub(super) fn add_and_normalise(
    x: &mut [f32],
    added: &[f32],
    scale: &[f32],
    shift: &[f32],
    epsilon: f32,
) {
    Arch::new().dispatch(Normalise {
        x,
        added,
        scale,
        shift,
        epsilon,
    });
}

/// `x · Φ(x)`, exact to about 1e-6 (the error function by Abramowitz and Stegun 7.1.26).
pub(super) fn gelu(x: &mut [f32]) {
    Arch::new().dispatch(Gelu(x));
}

/// Each row of `width` numbers times `factor` becomes a distribution.
pub(super) fn softmax(x: &mut [f32], width: usize, factor: f32) {
    Arch::new().dispatch(Softmax { x, width, factor });
}

struct Normalise<'a> {
    x: &'a mut [f32],
    added: &'a [f32],
    scale: &'a [f32],
    shift: &'a [f32],
    epsilon: f32,
}

impl WithSimd for Normalise<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let width = self.scale.len();
        for (n, row) in self.x.chunks_exact_mut(width).enumerate() {
            if let Some(added) = self.added.get(n * width..(n + 1) * width) {
                for (value, added) in row.iter_mut().zip(added) {
                    *value += added;
                }
            }
            let mean = sum(row, |value| value) / width as f32;
            let variance = sum(row, |value| (value - mean) * (value - mean)) / width as f32;
            let inverse = 1.0 / (variance + self.epsilon).sqrt();
            for ((value, scale), shift) in row.iter_mut().zip(self.scale).zip(self.shift) {
                *value = (*value - mean) * inverse * scale + shift;
            }
        }
    }
}

struct Gelu<'a>(&'a mut [f32]);

impl WithSimd for Gelu<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for value in self.0 {
            let x = *value * std::f32::consts::FRAC_1_SQRT_2;
            let size = x.abs();
            let t = 1.0 / (1.0 + 0.327_591_1 * size);
            let polynomial = t
                * (0.254_829_6
                    + t * (-0.284_496_74
                        + t * (1.421_413_7 + t * (-1.453_152_1 + t * 1.061_405_4))));
            let error = 1.0 - polynomial * exp(-size * size);
            *value *= 0.5 + 0.5 * error.copysign(x);
        }
    }
}

struct Softmax<'a> {
    x: &'a mut [f32],
    width: usize,
    factor: f32,
}

impl WithSimd for Softmax<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for row in self.x.chunks_exact_mut(self.width) {
            let mut highest = [f32::NEG_INFINITY; LANES];
            let (chunks, rest) = row.as_chunks::<LANES>();
            for chunk in chunks {
                for (highest, value) in highest.iter_mut().zip(chunk) {
                    *highest = if *value > *highest { *value } else { *highest };
                }
            }
            let highest = highest
                .iter()
                .chain(rest)
                .copied()
                .fold(f32::NEG_INFINITY, f32::max);
            for value in row.iter_mut() {
                *value = exp((*value - highest) * self.factor);
            }
            let inverse = 1.0 / sum(row, |value| value);
            for value in row {
                *value *= inverse;
            }
        }
    }
}

/// Partial sums that a vector can hold; their fixed number keeps results equal from run to run.
const LANES: usize = 16;

#[inline(always)]
fn sum(values: &[f32], of: impl Fn(f32) -> f32) -> f32 {
    let mut partial = [0.0_f32; LANES];
    let (chunks, rest) = values.as_chunks::<LANES>();
    for chunk in chunks {
        for (partial, &value) in partial.iter_mut().zip(chunk) {
            *partial += of(value);
        }
    }
    partial.iter().sum::<f32>() + rest.iter().map(|&value| of(value)).sum::<f32>()
}

/// e^x for x ≤ 0, to about 2e-7 relative: 2^n times a polynomial (Cephes `expf`).
#[inline(always)]
fn exp(x: f32) -> f32 {
    /// Adding and subtracting it rounds to a whole number.
    const ROUNDING: f32 = 12_582_912.0;
    let x = if x < -87.0 { -87.0 } else { x };
    let n = (x * std::f32::consts::LOG2_E + ROUNDING) - ROUNDING;
    let r = x - n * 0.693_359_4 + n * 2.121_944_4e-4;
    let p = 1.987_569_1e-4;
    let p = p * r + 1.398_199_9e-3;
    let p = p * r + 8.333_452e-3;
    let p = p * r + 4.166_579_6e-2;
    let p = p * r + 1.666_666_5e-1;
    let p = p * r + 0.5;
    let power = f32::from_bits(((n as i32 + 127) << 23) as u32);
    (p * r * r + r + 1.0) * power
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponentials_are_those_of_the_system() {
        for step in 0..870 {
            let x = -(step as f32) / 10.0;
            let expected = x.exp();
            let got = exp(x);
            assert!(
                (got - expected).abs() <= expected * 5e-7,
                "exp({x}) = {got}"
            );
        }
        assert!(exp(-1e9) < 1e-37);
    }

    #[test]
    fn gelu_has_its_known_values() {
        let mut values = [-6.0, -1.0, -0.1, 0.0, 0.1, 1.0, 6.0];
        gelu(&mut values);
        let expected = [
            -5.919e-9, -0.158_655, -0.046_017, 0.0, 0.053_983, 0.841_345, 6.0,
        ];
        for (got, expected) in values.iter().zip(expected) {
            assert!((got - expected).abs() < 2e-6, "{got} for {expected}");
        }
    }

    #[test]
    fn softmax_rows_sum_to_one() {
        let mut values: Vec<f32> = (0..57).map(|n| (n * 7 % 11) as f32).collect();
        values[3] = 1000.0;
        softmax(&mut values, 19, 0.5);
        for row in values.chunks(19) {
            assert!((row.iter().sum::<f32>() - 1.0).abs() < 1e-5);
        }
        assert!(values[3] > 0.999);
        let mut two = [0.0, 2.0_f32.ln()];
        softmax(&mut two, 2, 1.0);
        assert!((two[1] - 2.0 / 3.0).abs() < 1e-6);
    }

    #[test]
    fn normalised_rows_have_mean_and_variance() {
        let mut x: Vec<f32> = (0..40).map(|n| n as f32).collect();
        let added = vec![1.0; 40];
        add_and_normalise(&mut x, &added, &[2.0; 20], &[3.0; 20], 1e-12);
        let mean = x[..20].iter().sum::<f32>() / 20.0;
        let variance = x[..20].iter().map(|v| (v - mean).powi(2)).sum::<f32>() / 20.0;
        assert!((mean - 3.0).abs() < 1e-5 && (variance - 4.0).abs() < 1e-4);
    }
}
