//! Which slots are read.

use super::{Expression, Matching, Operator, Slot, Step};

impl Expression {
    /// Calls `visit` with each slot that the expression reads, those of inner queries too.
    pub(in crate::cypher) fn each_slot(&self, visit: &mut dyn FnMut(Slot)) {
        match self {
            Self::Slot(slot) => visit(*slot),
            Self::Exists(matching) | Self::PatternComprehension { matching, .. } => {
                matching.each_slot(visit);
            }
            Self::ExistsQuery(plan) | Self::CountQuery(plan) | Self::CollectQuery(plan) => {
                for operator in plan.branches.iter().flat_map(|branch| &branch.operators) {
                    operator.each_slot(visit);
                }
            }
            _ => {}
        }
        for part in self.parts() {
            part.each_slot(visit);
        }
    }
}

impl Matching {
    fn each_slot(&self, visit: &mut dyn FnMut(Slot)) {
        for step in &self.steps {
            match step {
                Step::Nodes { slot, .. } | Step::Bound(slot) => visit(*slot),
                Step::Lookup { value, .. } => value.each_slot(visit),
                Step::Expand(expand) => {
                    visit(expand.from);
                    visit(expand.to);
                    visit(expand.relationship);
                }
                Step::Walk(walk) | Step::Shortest { walk, .. } => {
                    visit(walk.from);
                    visit(walk.to);
                    walk.relationships.iter().for_each(|slot| visit(*slot));
                    for (_, value) in &walk.properties {
                        value.each_slot(visit);
                    }
                }
                Step::Filter(expression) => expression.each_slot(visit),
                Step::Path { .. } | Step::Nothing => {}
            }
        }
    }
}

impl Operator {
    fn each_slot(&self, visit: &mut dyn FnMut(Slot)) {
        match self {
            Self::Match { matching, .. } => matching.each_slot(visit),
            Self::Unwind { list: value, .. }
            | Self::Filter(value)
            | Self::Skip(value)
            | Self::Limit(value) => value.each_slot(visit),
            Self::Project(items) => items.iter().for_each(|(item, _)| item.each_slot(visit)),
            Self::Aggregate { keys, aggregates } => {
                for (key, _) in keys {
                    key.each_slot(visit);
                }
                for argument in aggregates.iter().flat_map(|(one, _)| &one.arguments) {
                    argument.each_slot(visit);
                }
            }
            Self::Sort { keys, .. } => {
                for key in keys {
                    key.expression.each_slot(visit);
                }
            }
            Self::Call { arguments, .. } => {
                for value in arguments {
                    value.each_slot(visit);
                }
            }
            Self::Distinct(_) => {}
        }
    }
}
