//! A chain of models: the next one steps in where the one before it cannot answer.

use malha_engine::language_model::{
    ChatModel, ChatReply, ChatRequest, Effort, ModelError, ModelErrorKind,
};

/// Models in the order they are asked. It goes by the name of the first, and every reply says who
/// really answered.
pub(crate) struct Fallback {
    /// At least one.
    models: Vec<Box<dyn ChatModel>>,
}

impl Fallback {
    pub(crate) fn new(models: Vec<Box<dyn ChatModel>>) -> Self {
        Self { models }
    }
}

impl ChatModel for Fallback {
    fn name(&self) -> &str {
        self.models[0].name()
    }

    fn names(&self) -> Vec<&str> {
        self.models.iter().map(|model| model.name()).collect()
    }

    fn concurrency(&self) -> usize {
        self.models[0].concurrency()
    }

    fn complete(
        &self,
        request: &ChatRequest,
        on_text: &mut dyn FnMut(&str),
    ) -> Result<ChatReply, ModelError> {
        let mut reasons: Vec<ModelError> = Vec::new();
        let mut effort = Effort::default();
        for (number, model) in self.models.iter().enumerate() {
            let mut has_spoken = false;
            let result = model.complete(request, &mut |text| {
                has_spoken |= !text.is_empty();
                on_text(text);
            });
            let mut error = match result {
                Ok(mut reply) => {
                    reply.effort.add(effort);
                    return Ok(reply);
                }
                Err(error) => error,
            };
            effort.add(error.effort);
            error.effort = effort;
            let is_last = number + 1 == self.models.len();
            // A request that is too long is split, which costs less than another model.
            if has_spoken || error.kind == ModelErrorKind::TooLong {
                return Err(error);
            }
            tracing::warn!(model = model.name(), is_last, "{}", error.message);
            reasons.push(error);
        }
        let last = reasons.last().expect("a chain holds at least one model");
        let message: Vec<String> = reasons.iter().map(ToString::to_string).collect();
        let mut error = ModelError::new(last.kind, self.name(), message.join("; "));
        error.effort = effort;
        Err(error)
    }
}
