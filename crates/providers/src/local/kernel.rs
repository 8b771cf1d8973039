//! Dense products in `f32`, written once and compiled for every vector width that the processor may have.

#![expect(
    clippy::inline_always,
    reason = "only what is inlined into `with_simd` is compiled for the processor's instructions"
)]

use pulp::{Arch, Simd, WithSimd};

/// Rows of the left side that are kept in registers at once: as many as 32 vector registers allow, or 16.
const MANY_ROWS: usize = 12;
const FEW_ROWS: usize = 6;
/// Rows that are packed at once, so that they stay in the second-level cache.
const BLOCK_ROWS: usize = 96;

/// A right side, laid out for the product: panels of two vectors' width, each input by input.
#[derive(Debug, Clone)]
pub(super) struct Panels {
    inputs: usize,
    outputs: usize,
    width: usize,
    values: Vec<f32>,
}

impl Panels {
    /// From a function of (input, output).
    pub(super) fn new(inputs: usize, outputs: usize, value: impl Fn(usize, usize) -> f32) -> Self {
        let width = Arch::new().dispatch(Width);
        let mut values = vec![0.0; outputs.div_ceil(width) * width * inputs];
        for (panel, values) in values.chunks_exact_mut(width * inputs).enumerate() {
            let first = panel * width;
            for offset in 0..width.min(outputs - first) {
                for (input, row) in values.chunks_exact_mut(width).enumerate() {
                    row[offset] = value(input, first + offset);
                }
            }
        }
        Self {
            inputs,
            outputs,
            width,
            values,
        }
    }

    /// `y = x · self`, for `rows` rows. Row `r` of x begins at `r * x_stride`, of y at `r * y_stride`.
    pub(super) fn multiply(
        &self,
        x: &[f32],
        x_stride: usize,
        rows: usize,
        y: &mut [f32],
        y_stride: usize,
    ) {
        Arch::new().dispatch(Product {
            panels: self,
            bias: &[],
            x,
            x_stride,
            rows,
            y,
            y_stride,
        });
    }
}

/// A layer's weights and bias.
#[derive(Debug, Clone)]
pub(super) struct Linear {
    panels: Panels,
    /// As long as the panels are wide.
    bias: Vec<f32>,
}

impl Linear {
    /// From weights as models store them: one row of `inputs` numbers an output.
    pub(super) fn new(weights: &[f32], bias: &[f32], inputs: usize) -> Self {
        let outputs = bias.len();
        let panels = Panels::new(inputs, outputs, |input, output| {
            weights[output * inputs + input]
        });
        let mut bias = bias.to_vec();
        bias.resize(outputs.div_ceil(panels.width) * panels.width, 0.0);
        Self { panels, bias }
    }

    /// One row of results a row of `x`.
    pub(super) fn apply(&self, x: &[f32]) -> Vec<f32> {
        let rows = x.len() / self.panels.inputs;
        let mut y = vec![0.0; rows * self.panels.outputs];
        Arch::new().dispatch(Product {
            panels: &self.panels,
            bias: &self.bias,
            x,
            x_stride: self.panels.inputs,
            rows,
            y: &mut y,
            y_stride: self.panels.outputs,
        });
        y
    }
}

struct Width;

impl WithSimd for Width {
    type Output = usize;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> usize {
        2 * S::F32_LANES
    }
}

struct Product<'a> {
    panels: &'a Panels,
    /// Empty for none.
    bias: &'a [f32],
    x: &'a [f32],
    x_stride: usize,
    rows: usize,
    y: &'a mut [f32],
    y_stride: usize,
}

impl WithSimd for Product<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        if S::REGISTER_COUNT >= 32 {
            self.run::<S, MANY_ROWS>(simd);
        } else {
            self.run::<S, FEW_ROWS>(simd);
        }
    }
}

impl Product<'_> {
    #[inline(always)]
    fn run<S: Simd, const ROWS: usize>(self, simd: S) {
        let Panels {
            inputs,
            outputs,
            width,
            ref values,
        } = *self.panels;
        let zero = [simd.splat_f32s(0.0); 2];
        let mut packed = vec![[0.0_f32; ROWS]; inputs * BLOCK_ROWS.min(self.rows).div_ceil(ROWS)];
        for first in (0..self.rows).step_by(BLOCK_ROWS) {
            let rows = BLOCK_ROWS.min(self.rows - first);
            for row in 0..rows {
                let source = &self.x[(first + row) * self.x_stride..][..inputs];
                let target = &mut packed[row / ROWS * inputs..][..inputs];
                for (target, &value) in target.iter_mut().zip(source) {
                    target[row % ROWS] = value;
                }
            }
            for (panel, values) in values.chunks_exact(inputs * width).enumerate() {
                let right = pulp::as_arrays::<2, _>(S::as_simd_f32s(values).0).0;
                let start = match self.bias.get(panel * width..(panel + 1) * width) {
                    Some(bias) => pulp::as_arrays::<2, _>(S::as_simd_f32s(bias).0).0[0],
                    None => zero,
                };
                let column = panel * width;
                let columns = width.min(outputs - column);
                for (tile, left) in packed.chunks_exact(inputs).enumerate() {
                    let first_row = tile * ROWS;
                    if first_row >= rows {
                        break;
                    }
                    let sums = tile_sums::<S, ROWS>(simd, left, right, start);
                    for (row, sums) in sums.iter().enumerate().take(rows - first_row) {
                        let at = (first + first_row + row) * self.y_stride + column;
                        let target = &mut self.y[at..at + columns];
                        if columns == width {
                            let target = S::as_mut_simd_f32s(target).0;
                            target[0] = sums[0];
                            target[1] = sums[1];
                        } else {
                            let sums: &[f32] = pulp::bytemuck::cast_slice(sums);
                            target.copy_from_slice(&sums[..columns]);
                        }
                    }
                }
            }
        }
    }
}

/// The heart of it: every input is multiplied into `2 · ROWS` vectors that stay in registers.
#[inline(always)]
fn tile_sums<S: Simd, const ROWS: usize>(
    simd: S,
    left: &[[f32; ROWS]],
    right: &[[S::f32s; 2]],
    start: [S::f32s; 2],
) -> [[S::f32s; 2]; ROWS] {
    let mut sums = [start; ROWS];
    for (left, right) in left.iter().zip(right) {
        for row in 0..ROWS {
            let value = simd.splat_f32s(left[row]);
            sums[row][0] = simd.mul_add_e_f32s(value, right[0], sums[row][0]);
            sums[row][1] = simd.mul_add_e_f32s(value, right[1], sums[row][1]);
        }
    }
    sums
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

    #[test]
    fn products_equal_the_plain_sum_for_every_shape() {
        for (rows, inputs, outputs) in [
            (1, 1, 1),
            (5, 7, 3),
            (12, 32, 32),
            (13, 33, 47),
            (97, 48, 64),
            (200, 20, 100),
        ] {
            let x = numbers(rows * inputs, 1);
            let weights = numbers(outputs * inputs, 2);
            let bias = numbers(outputs, 3);
            let y = Linear::new(&weights, &bias, inputs).apply(&x);
            assert_eq!(y.len(), rows * outputs);
            for row in 0..rows {
                for output in 0..outputs {
                    let expected: f32 = (0..inputs)
                        .map(|i| x[row * inputs + i] * weights[output * inputs + i])
                        .sum::<f32>()
                        + bias[output];
                    let got = y[row * outputs + output];
                    assert!(
                        (got - expected).abs() < 1e-4,
                        "{rows}x{inputs}x{outputs} at {row},{output}: {got} for {expected}"
                    );
                }
            }
        }
    }

    #[test]
    #[expect(clippy::float_cmp, reason = "whole numbers")]
    fn strides_leave_the_rest_alone() {
        let panels = Panels::new(2, 3, |input, output| (10 * input + output) as f32);
        let x = [1.0, 2.0, 99.0, 3.0, 4.0, 99.0];
        let mut y = [7.0; 10];
        panels.multiply(&x, 3, 2, &mut y, 5);
        assert_eq!(y, [20.0, 23.0, 26.0, 7.0, 7.0, 40.0, 47.0, 54.0, 7.0, 7.0]);
    }
}
