use super::csr::RelationCsr;
use super::window::Moment;
use crate::types::{Direction, RelationTypeId};

/// Which edges a walk may use: a direction, some relation types, and what is visible at a moment.
#[derive(Debug, Clone)]
pub struct EdgeFilter {
    pub(super) direction: Direction,
    passing: Passing,
}

/// Type and times of an edge are its kind; there are few kinds, so each is judged once.
#[derive(Debug, Clone)]
enum Passing {
    All,
    /// By kind.
    Some(Vec<bool>),
}

impl EdgeFilter {
    /// For walks over `relations`; no list of types lets every type pass, ids that no edge has let none.
    pub fn new(
        relations: &RelationCsr,
        direction: Direction,
        types: Option<&[RelationTypeId]>,
        at: Moment,
    ) -> Self {
        let passing = if types.is_none() && relations.all_visible(at) {
            Passing::All
        } else {
            let kinds = relations.kinds().iter();
            let type_passes = |id: &RelationTypeId| types.is_none_or(|types| types.contains(id));
            Passing::Some(
                kinds
                    .map(|kind| kind.window.contains(at) && type_passes(&kind.relation_type))
                    .collect(),
            )
        };
        Self { direction, passing }
    }

    /// For walks over the relations of all times.
    pub fn of_all_times(
        relations: &RelationCsr,
        direction: Direction,
        types: Option<&[RelationTypeId]>,
    ) -> Self {
        let passing = types.map_or(Passing::All, |types| {
            let kinds = relations.kinds().iter();
            Passing::Some(
                kinds
                    .map(|kind| types.contains(&kind.relation_type))
                    .collect(),
            )
        });
        Self { direction, passing }
    }

    /// The same edges walked backwards.
    #[must_use]
    pub fn reversed(&self) -> Self {
        Self {
            direction: match self.direction {
                Direction::Out => Direction::In,
                Direction::In => Direction::Out,
                Direction::Both => Direction::Both,
            },
            passing: self.passing.clone(),
        }
    }

    /// By kind of edge; `None` when nothing needs to be looked at edge by edge.
    pub(super) fn by_kind(&self) -> Option<&[bool]> {
        match &self.passing {
            Passing::All => None,
            Passing::Some(passing) => Some(passing),
        }
    }
}
