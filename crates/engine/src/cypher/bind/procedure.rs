use open_cypher::Span;
use open_cypher::ast::{CallClause, CallTarget, ProjectionItemKind, QualifiedName};

use super::kind::Kind;
use super::{Aggregation, Binder, span, unsupported, with_near};
use crate::cypher::error::{CypherError, ErrorKind, Result};
use crate::cypher::graph::Procedure;
use crate::cypher::plan::{Expression, Operator};
use crate::text::near_names;

impl Binder<'_> {
    /// `CALL`; alone it may take its arguments from parameters of their names and gives all columns.
    pub(super) fn procedure_call(
        &mut self,
        call: &CallClause,
        at: Span,
        is_alone: bool,
        out: &mut Vec<Operator>,
    ) -> Result<()> {
        let CallTarget::Procedure { name, arguments } = &call.target else {
            return Err(unsupported("CALL { … }", at));
        };
        if call.optional {
            return Err(unsupported("OPTIONAL CALL", at));
        }
        let graph = self.graph;
        let (place, procedure) = find(graph.procedures(), name)?;
        let arguments = match arguments {
            Some(arguments) => {
                if !(procedure.required..=procedure.arguments.len()).contains(&arguments.len()) {
                    return Err(CypherError::syntax(
                        "InvalidNumberOfArguments",
                        format!(
                            "{} takes {}",
                            procedure.name,
                            match procedure.arguments.as_slice() {
                                [] => "no arguments".to_owned(),
                                names => names.join(", "),
                            }
                        ),
                    )
                    .at(span(at)));
                }
                self.aggregation = Aggregation::Refused;
                arguments
                    .iter()
                    .map(|argument| Ok(self.expression(argument)?.0))
                    .collect::<Result<_>>()?
            }
            None if is_alone => self.arguments_by_name(procedure, at)?,
            None if procedure.required == 0 => Vec::new(),
            None => {
                return Err(CypherError::syntax(
                    "InvalidArgumentPassingMode",
                    "a CALL inside a query needs its arguments in brackets",
                )
                .at(span(at)));
            }
        };
        let mut columns = Vec::new();
        let mut filter = None;
        match &call.yield_clause {
            Some(yielded) if !yielded.all => {
                for item in &yielded.items {
                    let ProjectionItemKind::Expression { expression, alias } = &item.kind else {
                        return Err(unsupported("this item", item.span));
                    };
                    let open_cypher::ast::ExprKind::Variable(column) = &expression.kind else {
                        return Err(unsupported("more than a column's name", item.span));
                    };
                    let found = procedure
                        .columns
                        .iter()
                        .position(|name| *name == column.kind.text);
                    let Some(found) = found else {
                        return Err(CypherError::syntax(
                            "UndefinedVariable",
                            format!(
                                "{} has no column {}; it has {}",
                                procedure.name,
                                column.kind.text,
                                procedure.columns.join(", ")
                            ),
                        )
                        .at(span(item.span)));
                    };
                    let slot = self.declare(alias.as_ref().unwrap_or(column), Kind::Any)?;
                    columns.push((found, slot));
                }
                filter = yielded.where_clause.as_ref();
            }
            _ if is_alone || call.yield_clause.is_some() => {
                for (column, place) in procedure.columns.iter().zip(0..) {
                    let slot = self.new_slot();
                    self.scope.add(column, slot, Kind::Any);
                    columns.push((place, slot));
                }
            }
            _ => {}
        }
        self.procedures.push(place);
        out.push(Operator::Call {
            procedure: place,
            arguments,
            columns,
        });
        if let Some(filter) = filter {
            out.push(Operator::Filter(self.condition(filter)?));
        }
        Ok(())
    }

    fn arguments_by_name(&self, procedure: &Procedure, at: Span) -> Result<Vec<Expression>> {
        let mut arguments = Vec::new();
        for (name, place) in procedure.arguments.iter().zip(0..) {
            match self.parameters.get(*name) {
                Some(value) => arguments.push(Expression::Constant(value.clone())),
                None if place >= procedure.required => break,
                None => {
                    return Err(CypherError::compile(
                        ErrorKind::ParameterMissing,
                        "MissingParameter",
                        format!("{} needs {name}", procedure.name),
                    )
                    .at(span(at)));
                }
            }
        }
        Ok(arguments)
    }
}

fn find<'p>(procedures: &'p [Procedure], name: &QualifiedName) -> Result<(usize, &'p Procedure)> {
    let parts: Vec<&str> = name
        .parts
        .iter()
        .map(|part| part.kind.text.as_str())
        .collect();
    let written = parts.join(".");
    let same = |procedure: &Procedure| procedure.name.eq_ignore_ascii_case(&written);
    if let Some(place) = procedures.iter().position(same) {
        Ok((place, &procedures[place]))
    } else {
        let names = procedures.iter().map(|one| one.name.clone());
        let near = near_names(&written, names.clone(), str::to_lowercase);
        let message = format!("there is no procedure {written}");
        let message = if near.is_empty() && !procedures.is_empty() {
            let names: Vec<String> = names.collect();
            format!("{message}; there are {}", names.join(", "))
        } else {
            with_near(message, &near)
        };
        Err(
            CypherError::compile(ErrorKind::ProcedureError, "ProcedureNotFound", message)
                .at(span(name.span)),
        )
    }
}
