use std::fmt;

/// What kind of mistake it is, in openCypher's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CypherErrorKind {
    /// The text is no query, or a query that can not mean anything.
    SyntaxError,
    /// A value of the wrong type.
    TypeError,
    /// A value out of its range.
    ArgumentError,
    /// Division by zero, a number past 64 bits.
    ArithmeticError,
    /// A parameter that was not given.
    ParameterMissing,
    /// No such procedure, or other arguments than it takes.
    ProcedureError,
    /// The query reads well but asks for what can not be.
    SemanticError,
    /// The query would write.
    WriteRefused,
    /// A limit on rows, time, memory or hops was reached.
    LimitExceeded,
    /// The graph could not be read; [`CypherError::cause`] says why.
    GraphError,
}

/// When a mistake was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CypherPhase {
    /// Before any row was read.
    CompileTime,
    /// While rows were read.
    Runtime,
}

/// Why a query has no answer.
#[derive(Debug)]
pub struct CypherError {
    pub kind: CypherErrorKind,
    pub phase: CypherPhase,
    /// openCypher's name of the mistake, such as `UndefinedVariable`.
    pub detail: &'static str,
    /// For people.
    pub message: String,
    /// Bytes of the query that it is about.
    pub span: Option<(usize, usize)>,
    /// Line and column of the span's start, both from 1.
    pub position: Option<(usize, usize)>,
    /// What the graph said, for [`CypherErrorKind::GraphError`].
    pub cause: Option<Box<crate::Error>>,
}

impl CypherError {
    /// A mistake in the query's text.
    pub(crate) fn compile(
        kind: CypherErrorKind,
        detail: &'static str,
        message: impl Into<String>,
    ) -> Self {
        Self {
            kind,
            phase: CypherPhase::CompileTime,
            detail,
            message: message.into(),
            span: None,
            position: None,
            cause: None,
        }
    }

    /// A [`CypherErrorKind::SyntaxError`] at compile time.
    pub(crate) fn syntax(detail: &'static str, message: impl Into<String>) -> Self {
        Self::compile(CypherErrorKind::SyntaxError, detail, message)
    }

    /// A mistake that showed while the query ran.
    pub(crate) fn runtime(
        kind: CypherErrorKind,
        detail: &'static str,
        message: impl Into<String>,
    ) -> Self {
        Self {
            phase: CypherPhase::Runtime,
            ..Self::compile(kind, detail, message)
        }
    }

    /// A [`CypherErrorKind::TypeError`] at run time.
    pub(crate) fn of_type(message: impl Into<String>) -> Self {
        Self::runtime(CypherErrorKind::TypeError, "InvalidArgumentValue", message)
    }

    /// An [`CypherErrorKind::ArgumentError`] at run time.
    pub(crate) fn argument(message: impl Into<String>) -> Self {
        Self::runtime(CypherErrorKind::ArgumentError, "NumberOutOfRange", message)
    }

    /// The same about these bytes of the query, unless a place is known already.
    #[must_use]
    pub(crate) fn at(mut self, span: (usize, usize)) -> Self {
        self.span.get_or_insert(span);
        self
    }

    /// The same with line and column in `source`.
    #[must_use]
    pub(crate) fn located(mut self, source: &str) -> Self {
        if let Some((start, _)) = self.span {
            let mut end = start.min(source.len());
            while !source.is_char_boundary(end) {
                end -= 1;
            }
            let before = &source[..end];
            let line = before.matches('\n').count() + 1;
            let last_line = before.rsplit('\n').next().unwrap_or(before);
            self.position = Some((line, last_line.chars().count() + 1));
        }
        self
    }
}

impl From<crate::Error> for CypherError {
    fn from(error: crate::Error) -> Self {
        Self {
            cause: Some(Box::new(error)),
            ..Self::runtime(
                CypherErrorKind::GraphError,
                "GraphError",
                "the graph could not be read",
            )
        }
    }
}

impl fmt::Display for CypherError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:?} ({})", self.kind, self.detail)?;
        if let Some((line, column)) = self.position {
            write!(formatter, " at line {line}, column {column}")?;
        }
        write!(formatter, ": {}", self.message)?;
        if let Some(cause) = &self.cause {
            write!(formatter, ": {cause}")?;
        }
        Ok(())
    }
}

impl std::error::Error for CypherError {}
