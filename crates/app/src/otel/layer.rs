//! Notes spans as they open, gain fields and close.

use std::fmt::Debug;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::sync::mpsc::SyncSender;
use std::time::{SystemTime, UNIX_EPOCH};

use tracing::Subscriber;
use tracing::field::Visit;
use tracing::span::{Attributes, Id, Record};
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

use super::encoding::{Field, Span};

/// Hands spans that closed to the exporter.
pub(super) struct SpanLayer {
    sender: SyncSender<Span>,
}

impl SpanLayer {
    pub(super) const fn new(sender: SyncSender<Span>) -> Self {
        Self { sender }
    }
}

impl<S: Subscriber + for<'span> LookupSpan<'span>> tracing_subscriber::Layer<S> for SpanLayer {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let span = context.span(id).expect("a span that opens is registered");
        let parent = span.parent().and_then(|parent| {
            let extensions = parent.extensions();
            let parent: &Span = extensions.get()?;
            Some((parent.trace, parent.id))
        });
        let mut fields = Fields(Vec::new());
        attributes.record(&mut fields);
        span.extensions_mut().insert(Span {
            trace: parent.map_or_else(
                || u128::from(random()) << 64 | u128::from(random()),
                |(trace, _)| trace,
            ),
            id: random(),
            parent: parent.map(|(_, id)| id),
            name: attributes.metadata().name(),
            start: now(),
            end: 0,
            fields: fields.0,
        });
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        if let Some(span) = context.span(id)
            && let Some(noted) = span.extensions_mut().get_mut::<Span>()
        {
            let mut fields = Fields(std::mem::take(&mut noted.fields));
            values.record(&mut fields);
            noted.fields = fields.0;
        }
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        if let Some(span) = context.span(&id)
            && let Some(mut noted) = span.extensions_mut().remove::<Span>()
        {
            noted.end = now();
            // A collector that cannot keep up loses spans; the run goes on.
            let _ = self.sender.try_send(noted);
        }
    }
}

struct Fields(Vec<(&'static str, Field)>);

impl Fields {
    fn set(&mut self, field: &tracing::field::Field, value: Field) {
        self.0.retain(|(key, _)| *key != field.name());
        self.0.push((field.name(), value));
    }
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn Debug) {
        self.set(field, Field::Text(format!("{value:?}")));
    }

    fn record_str(&mut self, field: &tracing::field::Field, value: &str) {
        self.set(field, Field::Text(value.to_owned()));
    }

    fn record_i64(&mut self, field: &tracing::field::Field, value: i64) {
        self.set(field, Field::Whole(value));
    }

    fn record_u64(&mut self, field: &tracing::field::Field, value: u64) {
        self.set(
            field,
            Field::Whole(i64::try_from(value).unwrap_or(i64::MAX)),
        );
    }

    fn record_f64(&mut self, field: &tracing::field::Field, value: f64) {
        self.set(field, Field::Real(value));
    }

    fn record_bool(&mut self, field: &tracing::field::Field, value: bool) {
        self.set(field, Field::Bool(value));
    }
}

/// Never 0, which no id may be.
fn random() -> u64 {
    RandomState::new().build_hasher().finish().max(1)
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
    })
}
