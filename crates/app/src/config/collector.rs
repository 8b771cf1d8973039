//! `OTEL_…`: where spans go, by the variables that every program of OpenTelemetry reads.

use std::time::Duration;

/// Where spans go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Collector {
    /// Whole, with its path.
    pub(crate) url: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) timeout: Duration,
    pub(crate) service: String,
}

impl Collector {
    /// `None` where no endpoint is named.
    pub(crate) fn from_environment() -> Result<Option<Self>, String> {
        Self::read(&|name| std::env::var(name).ok().filter(|value| !value.is_empty()))
    }

    fn read(variable: &dyn Fn(&str) -> Option<String>) -> Result<Option<Self>, String> {
        let own = |name: &str| {
            variable(&format!("OTEL_EXPORTER_OTLP_TRACES_{name}"))
                .or_else(|| variable(&format!("OTEL_EXPORTER_OTLP_{name}")))
        };
        let url = match variable("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") {
            Some(url) => url,
            None => match variable("OTEL_EXPORTER_OTLP_ENDPOINT") {
                Some(base) => format!("{}/v1/traces", base.trim_end_matches('/')),
                None => return Ok(None),
            },
        };
        let mut headers = Vec::new();
        for pair in own("HEADERS").iter().flat_map(|all| all.split(',')) {
            let Some((name, value)) = pair.split_once('=') else {
                // It may be a secret: it is not shown.
                return Err("OTEL_EXPORTER_OTLP_HEADERS is no list of NAME=VALUE".to_owned());
            };
            headers.push((name.trim().to_lowercase(), value.trim().to_owned()));
        }
        let timeout = match own("TIMEOUT") {
            None => 10_000,
            Some(text) => text.trim().parse().map_err(|_| {
                format!("OTEL_EXPORTER_OTLP_TIMEOUT is no number of milliseconds: {text}")
            })?,
        };
        Ok(Some(Self {
            url,
            headers,
            timeout: Duration::from_millis(timeout),
            service: variable("OTEL_SERVICE_NAME").unwrap_or_else(|| "malha".to_owned()),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_variables_say_where_spans_go() {
        let read = |variables: &[(&str, &str)]| {
            Collector::read(&|name| {
                let found = variables.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| (*value).to_owned())
            })
        };
        assert_eq!(read(&[]), Ok(None));
        let base = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318/");
        let found = read(&[
            base,
            ("OTEL_EXPORTER_OTLP_HEADERS", "Api-Key=a=b, x=1"),
            ("OTEL_EXPORTER_OTLP_TIMEOUT", "250"),
            ("OTEL_SERVICE_NAME", "vault"),
        ])
        .unwrap()
        .unwrap();
        assert_eq!(found.url, "http://127.0.0.1:4318/v1/traces");
        let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(found.headers, [header("api-key", "a=b"), header("x", "1")]);
        assert_eq!(found.timeout, Duration::from_millis(250));
        assert_eq!(found.service, "vault");
        let whole = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://a/spans");
        assert_eq!(read(&[base, whole]).unwrap().unwrap().url, "http://a/spans");
        let secret = read(&[base, ("OTEL_EXPORTER_OTLP_HEADERS", "hush")]);
        assert!(!secret.unwrap_err().contains("hush"));
    }
}
