use std::sync::Arc;

use open_cypher::ast::{
    Clause, ClauseKind, MatchClause, Query, QueryKind, RegularQuery, SingleQuery, UnionOperator,
    UnwindClause,
};

use super::kind::Kind;
use super::pattern::{NewNames, is_own_mode};
use super::projection::Naming;
use super::{Aggregation, Binder, span, unsupported};
use crate::cypher::error::{CypherError, ErrorKind, Result};
use crate::cypher::parse::refused;
use crate::cypher::plan::{Aggregate, AggregateKind, Branch, Matching, Operator, Plan, Step};

impl Binder<'_> {
    pub(super) fn query(&mut self, query: &Query) -> Result<Plan> {
        let QueryKind::Regular(regular) = &query.kind else {
            return Err(unsupported("this query", query.span));
        };
        let keeps_equal_rows = Self::check_unions(regular)?;
        let outer = self.scope.clone();
        let (branch, columns) = self.single(&regular.head)?;
        let mut branches = vec![branch];
        for union in &regular.unions {
            self.scope = outer.clone();
            let (branch, others) = self.single(&union.query)?;
            if others != columns {
                return Err(CypherError::syntax(
                    "DifferentColumnsInUnion",
                    "the sides of UNION need the same columns in the same order",
                )
                .at(span(union.operator.span)));
            }
            branches.push(branch);
        }
        self.scope = outer;
        Ok(Plan {
            branches,
            keeps_equal_rows,
            columns,
        })
    }

    /// A query inside an expression; it sees the names around it.
    pub(super) fn inner_query(&mut self, query: &Query) -> Result<Plan> {
        let aggregation = std::mem::replace(&mut self.aggregation, Aggregation::Refused);
        let scope = self.scope.clone();
        self.depth += 1;
        let plan = self.query(query);
        self.depth -= 1;
        self.scope = scope;
        self.aggregation = aggregation;
        plan
    }

    fn check_unions(regular: &RegularQuery) -> Result<bool> {
        let is_all = |operator: UnionOperator| operator == UnionOperator::All;
        let first = regular.unions.first();
        let Some(first) = first.map(|union| is_all(union.operator.kind)) else {
            return Ok(true);
        };
        for union in &regular.unions {
            if is_all(union.operator.kind) != first {
                return Err(CypherError::syntax(
                    "InvalidClauseComposition",
                    "UNION and UNION ALL can not be mixed",
                )
                .at(span(union.operator.span)));
            }
        }
        Ok(first)
    }

    fn single(&mut self, query: &SingleQuery) -> Result<(Branch, Vec<Arc<str>>)> {
        // What writes is refused before anything else is said about the query.
        for clause in &query.kind.clauses {
            self.refuse_writing(clause)?;
        }
        let mut operators = Vec::new();
        let mut is_over = false;
        let clauses = query.kind.clauses.as_slice();
        for clause in clauses {
            if is_over {
                return Err(CypherError::syntax(
                    "InvalidClauseComposition",
                    "nothing can follow RETURN",
                )
                .at(span(clause.span)));
            }
            match &clause.kind {
                ClauseKind::Match(found) => self.match_clause(found, &mut operators)?,
                ClauseKind::Unwind(unwind) => self.unwind(unwind, &mut operators)?,
                ClauseKind::With(with) => self.projection(
                    &with.projection,
                    with.where_clause.as_ref(),
                    Naming::Required,
                    &mut operators,
                )?,
                ClauseKind::Return(projection) => {
                    let projection = &projection.projection;
                    self.projection(projection, None, Naming::ByText, &mut operators)?;
                    is_over = true;
                }
                ClauseKind::Call(call) => {
                    let is_alone = clauses.len() == 1;
                    self.procedure_call(call, clause.span, is_alone, &mut operators)?;
                    is_over = is_alone;
                }
                _ => return Err(unsupported("this clause", clause.span)),
            }
        }
        let is_pattern_only = self.depth > 0
            && clauses
                .last()
                .is_some_and(|clause| matches!(clause.kind, ClauseKind::Match(_)));
        if !is_over && !is_pattern_only {
            return Err(CypherError::syntax(
                "InvalidClauseComposition",
                "a query ends with RETURN",
            )
            .at(span(query.span)));
        }
        let variables: &[_] = if is_over { self.scope.variables() } else { &[] };
        let outputs = variables.iter().map(|variable| variable.slot).collect();
        let columns = variables
            .iter()
            .map(|variable| Arc::clone(&variable.name))
            .collect();
        follow_ends_only(&mut operators);
        Ok((Branch { operators, outputs }, columns))
    }

    fn refuse_writing(&self, clause: &Clause) -> Result<()> {
        let name = match &clause.kind {
            ClauseKind::Create(_) => "CREATE",
            ClauseKind::Insert(_) => "INSERT",
            ClauseKind::Merge(_) => "MERGE",
            ClauseKind::Delete(_) => "DELETE",
            ClauseKind::Set(_) => "SET",
            ClauseKind::Remove(_) => "REMOVE",
            ClauseKind::Foreach(_) => "FOREACH",
            ClauseKind::LoadCsv(_) => "LOAD CSV",
            _ => return Ok(()),
        };
        let mut error = refused(name).at(span(clause.span));
        if self.depth > 0 {
            error.kind = ErrorKind::SyntaxError;
            error.detail = "InvalidClauseComposition";
        }
        Err(error)
    }

    fn match_clause(&mut self, clause: &MatchClause, out: &mut Vec<Operator>) -> Result<()> {
        if let Some(mode) = &clause.mode
            && !is_own_mode(mode.kind)
        {
            return Err(unsupported("this path mode", mode.span));
        }
        let predicate = clause.where_clause.as_ref();
        let matching = self.matching(&clause.pattern, predicate, NewNames::Allowed)?;
        out.push(Operator::Match {
            matching,
            is_optional: clause.optional,
        });
        Ok(())
    }

    fn unwind(&mut self, clause: &UnwindClause, out: &mut Vec<Operator>) -> Result<()> {
        let (list, kind) = self.expression(&clause.expression)?;
        let of = match kind {
            Kind::List(of) if *of != Kind::Null => *of,
            _ => Kind::Any,
        };
        let slot = self.declare(&clause.variable, of)?;
        out.push(Operator::Unwind { list, slot });
        Ok(())
    }
}

/// Where only distinct ends of a run are asked for, the ways to them need not be told apart.
fn follow_ends_only(operators: &mut [Operator]) {
    for place in 0..operators.len() {
        let rest = &operators[place + 1..];
        let next = rest
            .iter()
            .position(|operator| !matches!(operator, Operator::Filter(_)));
        let ignores_copies = match next.map(|next| &rest[next..]) {
            Some([Operator::Project(_), Operator::Distinct(_), ..]) => true,
            Some([Operator::Aggregate { aggregates, .. }, ..]) => aggregates
                .iter()
                .all(|(aggregate, _)| ignores_copies(aggregate)),
            _ => false,
        };
        if ignores_copies && let Operator::Match { matching, .. } = &mut operators[place] {
            follow_ends_of(matching);
        }
    }
}

fn ignores_copies(aggregate: &Aggregate) -> bool {
    aggregate.is_distinct || matches!(aggregate.kind, AggregateKind::Least | AggregateKind::Most)
}

fn follow_ends_of(matching: &mut Matching) {
    let follows = matching
        .steps
        .iter()
        .filter(|step| {
            matches!(
                step,
                Step::Expand(_) | Step::Walk(_) | Step::Shortest { .. }
            )
        })
        .count();
    if follows != 1 {
        return;
    }
    for step in &mut matching.steps {
        if let Step::Walk(walk) = step {
            walk.only_ends = walk.relationships.is_none()
                && !walk.to_is_bound
                && walk.least <= 1
                && walk.most.is_none_or(|most| most >= 1)
                && walk.properties.is_empty();
        }
    }
}
