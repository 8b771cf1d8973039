use open_cypher::ast::{Expr, ExprKind, FunctionInvocation, SetQuantifier};

use super::aggregation::{AGGREGATES, aggregate_kind, aggregate_of};
use super::expression::{Typed, mismatch};
use super::kind::{Kind, Takes};
use super::{Aggregation, Binder, span, with_near};
use crate::cypher::error::{CypherError, Result};
use crate::cypher::functions::{Gives, function, function_names};
use crate::cypher::plan::{Aggregate, AggregateKind, Expression};
use crate::text::near_names;

impl Binder<'_> {
    pub(super) fn call(&mut self, whole: &Expr, call: &FunctionInvocation) -> Result<Typed> {
        let written: Vec<&str> = call
            .name
            .parts
            .iter()
            .map(|part| part.kind.text.as_str())
            .collect();
        let written = written.join(".");
        let name = written.to_lowercase();
        if let Some((kind, arguments)) = aggregate_of(&name) {
            return self.aggregate(whole, call, kind, arguments);
        }
        if name == "exists"
            && let [argument] = call.arguments.as_slice()
        {
            return self.exists(argument);
        }
        let Some(function) = function(&name) else {
            let known = function_names().chain(AGGREGATES.iter().map(|(name, ..)| *name));
            let near = near_names(&written, known.map(str::to_owned), str::to_lowercase);
            let message = with_near(format!("there is no function {written}"), &near);
            return Err(CypherError::syntax("UnknownFunction", message).at(span(call.name.span)));
        };
        if !(function.least..=function.most).contains(&call.arguments.len()) {
            return Err(CypherError::syntax(
                "InvalidNumberOfArguments",
                format!(
                    "{written} takes {} arguments, not {}",
                    function.arity(),
                    call.arguments.len()
                ),
            )
            .at(span(whole.span)));
        }
        let mut arguments = Vec::new();
        let mut kinds = Vec::new();
        for (argument, takes) in
            call.arguments
                .iter()
                .zip(function.takes.iter().chain(std::iter::repeat(
                    function.takes.last().unwrap_or(&Takes::Anything),
                )))
        {
            if let ExprKind::Pattern(_) = argument.kind {
                return Err(CypherError::syntax(
                    "UnexpectedSyntax",
                    "a pattern has no value; write [(a)-->(b) | 1] for a list",
                )
                .at(span(argument.span)));
            }
            let (bound, kind) = self.expression(argument)?;
            if !kind.fits(*takes) {
                return Err(mismatch(*takes, &kind, argument));
            }
            arguments.push(bound);
            kinds.push(kind);
        }
        let first = kinds.into_iter().next().unwrap_or(Kind::Any);
        let kind = match function.gives {
            Gives::Anything => Kind::Any,
            Gives::Boolean => Kind::Boolean,
            Gives::Integer => Kind::Integer,
            Gives::Float => Kind::Float,
            Gives::String => Kind::String,
            Gives::Map => Kind::Map,
            Gives::Node => Kind::Node,
            Gives::Nodes => Kind::list_of(Kind::Node),
            Gives::Relationships => Kind::list_of(Kind::Relationship),
            Gives::Strings => Kind::list_of(Kind::String),
            Gives::Integers => Kind::list_of(Kind::Integer),
            Gives::List => Kind::list_of(Kind::Any),
            Gives::Temporal => Kind::Temporal,
            Gives::Duration => Kind::Duration,
            Gives::Same => first,
            Gives::Item => match first {
                Kind::List(of) if *of != Kind::Null => *of,
                _ => Kind::Any,
            },
        };
        Ok((Expression::Call(function, arguments), kind))
    }

    /// `exists(n.name)` asks for a property, `exists((n)-->())` for a pattern.
    fn exists(&mut self, argument: &Expr) -> Result<Typed> {
        let bound = match &argument.kind {
            ExprKind::Pattern(pattern) => self.pattern_exists(pattern)?,
            ExprKind::Property { .. }
            | ExprKind::Index { .. }
            | ExprKind::DynamicProperty { .. } => {
                let (inner, _) = self.expression(argument)?;
                Expression::Not(Box::new(Expression::IsNull(Box::new(inner))))
            }
            _ => {
                return Err(CypherError::syntax(
                    "InvalidArgumentType",
                    "exists takes a property or a pattern",
                )
                .at(span(argument.span)));
            }
        };
        Ok((bound, Kind::Boolean))
    }

    fn aggregate(
        &mut self,
        whole: &Expr,
        call: &FunctionInvocation,
        kind: AggregateKind,
        arguments: usize,
    ) -> Result<Typed> {
        let collected = match &mut self.aggregation {
            Aggregation::Refused => {
                return Err(CypherError::syntax(
                    "InvalidAggregation",
                    "an aggregate can stand in WITH and RETURN only",
                )
                .at(span(whole.span)));
            }
            Aggregation::Inside => {
                return Err(CypherError::syntax(
                    "NestedAggregation",
                    "an aggregate can not stand in another one; compute the inner one in a WITH before",
                )
                .at(span(whole.span)));
            }
            Aggregation::Collected(collected) => std::mem::take(collected),
        };
        if call.arguments.len() != arguments {
            return Err(CypherError::syntax(
                "InvalidNumberOfArguments",
                format!("this takes {arguments} arguments"),
            )
            .at(span(whole.span)));
        }
        self.aggregation = Aggregation::Inside;
        let bound = self.aggregate_arguments(call, kind);
        self.aggregation = Aggregation::Collected(collected);
        let (aggregate, kind) = bound?;
        if aggregate.arguments.iter().any(is_random) {
            return Err(CypherError::syntax(
                "NonConstantExpression",
                "an aggregate over rand() has no meaning",
            )
            .at(span(whole.span)));
        }
        let slot = self.new_slot();
        let Aggregation::Collected(collected) = &mut self.aggregation else {
            unreachable!("set just before");
        };
        let slot = if let Some((_, slot)) = collected.iter().find(|(known, _)| *known == aggregate)
        {
            *slot
        } else {
            collected.push((aggregate, slot));
            slot
        };
        Ok((Expression::Slot(slot), kind))
    }

    fn aggregate_arguments(
        &mut self,
        call: &FunctionInvocation,
        kind: AggregateKind,
    ) -> Result<(Aggregate, Kind)> {
        let is_distinct = call
            .quantifier
            .as_ref()
            .is_some_and(|quantifier| quantifier.kind == SetQuantifier::Distinct);
        if let [
            Expr {
                kind: ExprKind::Wildcard,
                span: at,
            },
        ] = call.arguments.as_slice()
        {
            if kind != AggregateKind::Count || is_distinct {
                return Err(
                    CypherError::syntax("UnexpectedSyntax", "* can only be counted").at(span(*at)),
                );
            }
            let aggregate = Aggregate {
                kind: AggregateKind::CountRows,
                is_distinct,
                arguments: Vec::new(),
            };
            return Ok((aggregate, Kind::Integer));
        }
        let mut arguments = Vec::new();
        let mut of = Kind::Any;
        for (argument, place) in call.arguments.iter().zip(0..) {
            let (bound, argument_kind) = self.expression(argument)?;
            arguments.push(bound);
            if place == 0 {
                of = argument_kind;
            }
        }
        let aggregate = Aggregate {
            kind,
            is_distinct,
            arguments,
        };
        Ok((aggregate, aggregate_kind(kind, of)))
    }
}

fn is_random(expression: &Expression) -> bool {
    matches!(expression, Expression::Call(function, _) if function.name == "rand")
        || expression.parts().into_iter().any(is_random)
}
