/// An affine map of the plane.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Matrix {
    /// Where the unit vectors go.
    x: (f64, f64),
    y: (f64, f64),
    /// Where the origin goes.
    origin: (f64, f64),
}

impl Matrix {
    pub(super) const IDENTITY: Self = Self {
        x: (1.0, 0.0),
        y: (0.0, 1.0),
        origin: (0.0, 0.0),
    };

    /// From the six numbers in the order of PDF.
    pub(super) fn new(numbers: [f64; 6]) -> Self {
        Self {
            x: (numbers[0], numbers[1]),
            y: (numbers[2], numbers[3]),
            origin: (numbers[4], numbers[5]),
        }
    }

    pub(super) fn shift(x: f64, y: f64) -> Self {
        Self {
            origin: (x, y),
            ..Self::IDENTITY
        }
    }

    /// This map, and the other one after it.
    pub(super) fn then(self, other: Self) -> Self {
        let turn = |vector: (f64, f64)| {
            (
                vector.0 * other.x.0 + vector.1 * other.y.0,
                vector.0 * other.x.1 + vector.1 * other.y.1,
            )
        };
        Self {
            x: turn(self.x),
            y: turn(self.y),
            origin: other.point(self.origin.0, self.origin.1),
        }
    }

    pub(super) fn point(self, x: f64, y: f64) -> (f64, f64) {
        (
            x * self.x.0 + y * self.y.0 + self.origin.0,
            x * self.x.1 + y * self.y.1 + self.origin.1,
        )
    }

    /// Length of an upright unit vector.
    pub(super) fn height(self) -> f64 {
        self.y.0.hypot(self.y.1)
    }
}
