//! Vectors of 4-bit numbers, a vector's question in 8 bits, and exact products of full vectors.

/// Dimensions packed together: byte `j` of a block holds dimension `j` in its lower and dimension `64 + j` in its
/// upper half, each plus [`OFFSET`].
const BLOCK_DIMENSIONS: usize = 2 * BLOCK;
/// Bytes of a block: a cache line, and the widest vector register.
pub(super) const BLOCK: usize = 64;
/// What is added to a number so that its half byte has no sign.
pub(super) const OFFSET: i32 = 8;
/// The highest number, and the lowest negated: zero stays exactly zero.
const HIGHEST: f32 = 7.0;

/// Vectors in four bits a dimension.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Codes {
    /// Blocks of a row.
    pub width: usize,
    pub blocks: Vec<[u8; BLOCK]>,
    /// What the numbers of a row are multiplied with; 0 for a vector of zeros.
    pub scales: Vec<f32>,
}

impl Codes {
    pub(super) fn new(dimensions: usize) -> Self {
        Self {
            width: Self::width(dimensions),
            blocks: Vec::new(),
            scales: Vec::new(),
        }
    }

    /// Blocks of a row of so many dimensions.
    pub(super) const fn width(dimensions: usize) -> usize {
        dimensions.div_ceil(BLOCK_DIMENSIONS)
    }

    pub(super) fn push(&mut self, vector: &[f32]) {
        let highest = highest(vector);
        let inverse = if highest > 0.0 {
            HIGHEST / highest
        } else {
            0.0
        };
        self.scales.push(highest / HIGHEST);
        let code = |value: &f32| ((value * inverse).round() as i32 + OFFSET) as u8;
        for dimensions in vector.chunks(BLOCK_DIMENSIONS) {
            let mut block = [OFFSET as u8 | (OFFSET as u8) << 4; BLOCK];
            let (low, high) = dimensions.split_at(dimensions.len().min(BLOCK));
            for (byte, value) in block.iter_mut().zip(low) {
                *byte = *byte & 0xf0 | code(value);
            }
            for (byte, value) in block.iter_mut().zip(high) {
                *byte = *byte & 0x0f | code(value) << 4;
            }
            self.blocks.push(block);
        }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        self.blocks.as_flattened()
    }
}

/// A question as whole numbers from -127 to 127, laid out as the blocks are.
#[derive(Debug, Clone)]
pub(super) struct Question {
    /// What the lower and the upper half bytes of each block are multiplied with.
    pub low: Vec<[i8; BLOCK]>,
    pub high: Vec<[i8; BLOCK]>,
    pub sum: i32,
    /// Euclidean length of the numbers.
    pub length: f32,
}

impl Question {
    pub(super) fn new(vector: &[f32]) -> Self {
        let highest = highest(vector);
        let inverse = if highest > 0.0 { 127.0 / highest } else { 0.0 };
        let (mut low, mut high) = (Vec::new(), Vec::new());
        let (mut sum, mut squares) = (0, 0);
        for dimensions in vector.chunks(BLOCK_DIMENSIONS) {
            let mut halves = [[0; BLOCK]; 2];
            for (place, value) in dimensions.iter().enumerate() {
                let code = (value * inverse).round() as i8;
                halves[place / BLOCK][place % BLOCK] = code;
                sum += i32::from(code);
                squares += i32::from(code).pow(2);
            }
            low.push(halves[0]);
            high.push(halves[1]);
        }
        Self {
            low,
            high,
            sum,
            length: (squares as f32).sqrt(),
        }
    }
}

fn highest(vector: &[f32]) -> f32 {
    vector
        .iter()
        .fold(0.0_f32, |high, value| high.max(value.abs()))
}

/// The product of two vectors, in an order that does not depend on the processor.
pub(crate) fn product(a: &[f32], b: &[f32]) -> f32 {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_keep_direction_and_length() {
        let mut vector = vec![0.0; 200];
        (vector[0], vector[1], vector[64], vector[130]) = (0.5, -1.0, 0.25, 1.0);
        let mut codes = Codes::new(200);
        codes.push(&vector);
        assert_eq!((codes.width, codes.blocks.len()), (2, 2));
        assert!((codes.scales[0] - 1.0 / 7.0).abs() < 1e-7);
        let halves = |block: usize, byte: usize| {
            let byte = codes.blocks[block][byte];
            (i32::from(byte & 15) - OFFSET, i32::from(byte >> 4) - OFFSET)
        };
        assert_eq!(halves(0, 0), (4, 2));
        assert_eq!(halves(0, 1), (-7, 0));
        assert_eq!(halves(1, 2), (7, 0));
        assert_eq!(halves(1, 63), (0, 0));
        codes.push(&[0.0; 200]);
        assert!(codes.scales[1].abs() < 1e-9);
        assert_eq!(codes.blocks[2..], [[0x88; BLOCK]; 2]);
    }

    #[test]
    fn a_question_is_laid_out_like_the_blocks() {
        let mut vector = vec![0.0; 130];
        (vector[3], vector[67], vector[128]) = (1.0, -1.0, 0.5);
        let question = Question::new(&vector);
        assert_eq!((question.low[0][3], question.high[0][3]), (127, -127));
        assert_eq!(question.low[1][0], 64);
        assert_eq!(question.sum, 64);
        assert!((question.length - 190.6).abs() < 0.1);
    }

    #[test]
    fn products_are_sums_of_products() {
        let a: Vec<f32> = (0..37).map(|n| n as f32).collect();
        let b = vec![2.0; 37];
        assert!((product(&a, &b) - 1332.0).abs() < 1e-3);
    }
}
