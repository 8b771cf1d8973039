//! HTTP for every client of this crate: proxies, certificates, timeouts, and failures sorted by what
//! to do next.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use malha_engine::language_model::{ModelError, ModelErrorKind};
use serde_json::Value;
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use ureq::{Agent, Body, Proxy, http};

/// Bytes of a reply that are read into memory at most.
pub const LONGEST_REPLY: u64 = 64 << 20;
/// Bytes of an error page that are looked at.
const LONGEST_ERROR: u64 = 64 << 10;
/// Characters of a provider's own words that are shown.
const SHOWN_ERROR: usize = 400;
/// How long to wait for a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// A client that keeps its connections. Cheap to share, not to make: one a provider.
#[derive(Debug)]
pub struct Http {
    proxy: Option<Proxy>,
    /// Agents by need: loopback addresses go past the proxy, and certificates are only loaded for TLS.
    direct: OnceLock<Agent>,
    through_proxy: OnceLock<Agent>,
    secure: OnceLock<Agent>,
}

impl Http {
    /// `proxy` as a URL; without one, `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY` count.
    ///
    /// # Errors
    /// The proxy is no URL of a kind we know.
    pub fn new(proxy: Option<&str>) -> Result<Self, ModelError> {
        let proxy = match proxy {
            None => Proxy::try_from_env(),
            Some(url) => Some(Proxy::new(url).map_err(|_| ModelError {
                kind: ModelErrorKind::Permanent,
                model: "proxy".to_owned(),
                message: "the configured proxy is no URL of the form http://host:port".to_owned(),
            })?),
        };
        Ok(Self {
            proxy,
            direct: OnceLock::new(),
            through_proxy: OnceLock::new(),
            secure: OnceLock::new(),
        })
    }

    /// Sends `body` as JSON. `who` is what errors call the other side; `secrets` are struck from them.
    ///
    /// # Errors
    /// No connection, or an answer other than 2xx.
    pub fn post(
        &self,
        url: &str,
        headers: &[(&str, &str)],
        body: &Value,
        call: &Call<'_>,
    ) -> Result<http::Response<Body>, ModelError> {
        let mut request = self
            .agent(url)
            .post(url)
            .header("content-type", "application/json");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let sent = request
            .config()
            .timeout_global(Some(call.timeout))
            .build()
            .send(body.to_string());
        call.check(url, sent)
    }

    /// Fetches a page.
    ///
    /// # Errors
    /// No connection, or an answer other than 2xx.
    pub fn get(
        &self,
        url: &str,
        headers: &[(&str, &str)],
        call: &Call<'_>,
    ) -> Result<http::Response<Body>, ModelError> {
        let mut request = self.agent(url).get(url);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let sent = request
            .config()
            .timeout_global(Some(call.timeout))
            .build()
            .call();
        call.check(url, sent)
    }

    /// The head of a page, or of the redirection that stands in its place.
    ///
    /// # Errors
    /// No connection, or an answer other than 2xx and 3xx.
    pub fn head(&self, url: &str, call: &Call<'_>) -> Result<http::Response<Body>, ModelError> {
        let sent = self
            .agent(url)
            .head(url)
            .config()
            .timeout_global(Some(call.timeout))
            .max_redirects(0)
            .max_redirects_will_error(false)
            .build()
            .call();
        match sent {
            Ok(response) if response.status().is_redirection() => Ok(response),
            sent => call.check(url, sent),
        }
    }

    fn agent(&self, url: &str) -> &Agent {
        if url.starts_with("https:") {
            return self.secure.get_or_init(|| {
                let tls = TlsConfig::builder()
                    .root_certs(RootCerts::Specific(certificates()))
                    .build();
                build(self.proxy.clone(), Some(tls))
            });
        }
        if is_loopback(url) {
            self.direct.get_or_init(|| build(None, None))
        } else {
            self.through_proxy
                .get_or_init(|| build(self.proxy.clone(), None))
        }
    }
}

/// What a single exchange needs besides its address.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// What errors call the other side: a model or an endpoint.
    pub who: &'a str,
    /// From the first byte sent to the last one read.
    pub timeout: Duration,
    /// Never shown, wherever the other side may repeat it.
    pub secret: Option<&'a str>,
}

impl Call<'_> {
    /// The whole reply as text.
    ///
    /// # Errors
    /// The connection ended early, or the reply is longer than [`LONGEST_REPLY`].
    pub fn text(&self, response: http::Response<Body>) -> Result<String, ModelError> {
        response
            .into_body()
            .into_with_config()
            .limit(LONGEST_REPLY)
            .lossy_utf8(true)
            .read_to_string()
            .map_err(|error| self.broken(&error))
    }

    /// The whole reply as JSON.
    ///
    /// # Errors
    /// As [`Call::text`]; a reply that is no JSON comes from something between us and the model, and
    /// is worth another try.
    pub fn json(&self, response: http::Response<Body>) -> Result<Value, ModelError> {
        let text = self.text(response)?;
        serde_json::from_str(&text).map_err(|error| {
            let start: String = text.chars().take(80).collect();
            self.transient(format!("the reply is no JSON ({error}): {start}"))
        })
    }

    /// A failure that may pass.
    pub fn transient(&self, message: impl Into<String>) -> ModelError {
        self.error(ModelErrorKind::Transient { retry_after: None }, message)
    }

    /// A failure that stays.
    pub fn permanent(&self, message: impl Into<String>) -> ModelError {
        self.error(ModelErrorKind::Permanent, message)
    }

    /// A failure of this kind, without the secret.
    pub fn error(&self, kind: ModelErrorKind, message: impl Into<String>) -> ModelError {
        let mut message: String = message.into();
        if let Some(secret) = self.secret.filter(|secret| !secret.is_empty()) {
            message = message.replace(secret, "[secret]");
        }
        ModelError {
            kind,
            model: self.who.to_owned(),
            message,
        }
    }

    /// A reply that broke off, or a connection that failed.
    pub fn broken(&self, error: &ureq::Error) -> ModelError {
        match error {
            ureq::Error::Timeout(_) => self.transient(format!(
                "no answer within {} s",
                self.timeout.as_secs_f32().ceil()
            )),
            ureq::Error::BadUri(_)
            | ureq::Error::Http(_)
            | ureq::Error::InvalidProxyUrl
            | ureq::Error::RedirectFailed
            | ureq::Error::TooManyRedirects
            | ureq::Error::BodyExceedsLimit(_)
            | ureq::Error::Tls(_)
            | ureq::Error::Rustls(_) => self.permanent(error.to_string()),
            other => self.transient(other.to_string()),
        }
    }

    fn check(
        &self,
        url: &str,
        sent: Result<http::Response<Body>, ureq::Error>,
    ) -> Result<http::Response<Body>, ModelError> {
        let response = match sent {
            Ok(response) if response.status().is_success() => return Ok(response),
            Ok(response) => response,
            Err(error) => {
                let mut error = self.broken(&error);
                error.message = format!("{} ({})", error.message, origin(url));
                return Err(error);
            }
        };
        let status = response.status().as_u16();
        let retry_after = response
            .headers()
            .get("retry-after")
            .and_then(|value| value.to_str().ok())
            .and_then(|value| parse_retry_after(value, SystemTime::now()));
        let body = response
            .into_body()
            .into_with_config()
            .limit(LONGEST_ERROR)
            .lossy_utf8(true)
            .read_to_string()
            .unwrap_or_default();
        let kind = sort_status(status, &body, retry_after);
        Err(self.error(kind, format!("HTTP {status}: {}", own_words(&body))))
    }
}

fn build(proxy: Option<Proxy>, tls: Option<TlsConfig>) -> Agent {
    let mut config = Agent::config_builder()
        .http_status_as_error(false)
        .timeout_connect(Some(CONNECT_TIMEOUT))
        .max_idle_connections(64)
        .max_idle_connections_per_host(64)
        .user_agent(concat!("malha/", env!("CARGO_PKG_VERSION")))
        .proxy(proxy);
    if let Some(tls) = tls {
        config = config.tls_config(tls);
    }
    config.build().new_agent()
}

/// The certificates of the operating system, loaded once a process. Those that cannot be read are
/// missed only when a connection needs them, which then says so.
fn certificates() -> Arc<Vec<Certificate<'static>>> {
    static CERTIFICATES: OnceLock<Arc<Vec<Certificate<'static>>>> = OnceLock::new();
    Arc::clone(CERTIFICATES.get_or_init(|| {
        let found = rustls_native_certs::load_native_certs();
        for error in &found.errors {
            tracing::warn!("certificates of the operating system: {error}");
        }
        let owned = found.certs.iter();
        Arc::new(
            owned
                .map(|der| Certificate::from_der(der).to_owned())
                .collect(),
        )
    }))
}

fn is_loopback(url: &str) -> bool {
    let host = origin(url);
    let host = host.split_once("://").map_or(host, |(_, host)| host);
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    host.starts_with("[::1]")
        || host.split(':').next().is_some_and(|host| {
            host == "localhost"
                || host
                    .parse::<std::net::IpAddr>()
                    .is_ok_and(|address| address.is_loopback())
        })
}

/// Scheme, host and port: what may be shown of an address, whose path and query may hold more.
pub fn origin(url: &str) -> &str {
    let start = url.find("://").map_or(0, |at| at + 3);
    let end = url[start..]
        .find(['/', '?', '#'])
        .map_or(url.len(), |at| start + at);
    &url[..end]
}

/// What an answer other than 2xx asks us to do.
fn sort_status(status: u16, body: &str, retry_after: Option<Duration>) -> ModelErrorKind {
    const TOO_LONG: [&str; 8] = [
        "context_length_exceeded",
        "context length",
        "context window",
        "context size",
        "prompt is too long",
        "input is too long",
        "too many tokens",
        "maximum number of tokens",
    ];
    let words = body.to_lowercase();
    match status {
        413 => ModelErrorKind::TooLong,
        429 if words.contains("insufficient_quota") => ModelErrorKind::Permanent,
        400 | 422 | 500 if TOO_LONG.iter().any(|words_of| words.contains(words_of)) => {
            ModelErrorKind::TooLong
        }
        408 | 409 | 425 | 429 | 500..=599 => ModelErrorKind::Transient { retry_after },
        _ => ModelErrorKind::Permanent,
    }
}

/// `Retry-After` as seconds (also with a fraction) or as an HTTP date.
fn parse_retry_after(value: &str, now: SystemTime) -> Option<Duration> {
    let value = value.trim();
    if let Ok(seconds) = value.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = value.strip_suffix(" GMT").unwrap_or(value);
    let date = date.split_once(", ").map_or(date, |(_, date)| date);
    let mut parts = date.split_whitespace();
    let day: i64 = parts.next()?.parse().ok()?;
    let month = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    .iter()
    .position(|name| Some(*name) == date.split_whitespace().nth(1))? as i64
        + 1;
    let year: i64 = parts.nth(1)?.parse().ok()?;
    let mut clock = parts.next()?.split(':').map(str::parse::<i64>);
    let (hour, minute, second) = (
        clock.next()?.ok()?,
        clock.next()?.ok()?,
        clock.next()?.ok()?,
    );
    let seconds = days_from_civil(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second;
    let at = SystemTime::UNIX_EPOCH + Duration::from_secs(u64::try_from(seconds).ok()?);
    Some(at.duration_since(now).unwrap_or_default())
}

/// Days since 1970-01-01 (Howard Hinnant, "chrono-compatible low-level date algorithms").
const fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// The message inside a provider's error, or the start of its page.
fn own_words(body: &str) -> String {
    let value: Option<Value> = serde_json::from_str(body).ok();
    let words = value.as_ref().and_then(|value| {
        [
            &value["error"]["message"],
            &value["error"],
            &value["message"],
        ]
        .into_iter()
        .find_map(Value::as_str)
    });
    let words = words.unwrap_or(body).trim();
    if words.is_empty() {
        return "no explanation".to_owned();
    }
    words.chars().take(SHOWN_ERROR).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_are_sorted_by_what_to_do() {
        const WAIT: ModelErrorKind = ModelErrorKind::Transient { retry_after: None };
        let check = |status, body, expected| {
            assert_eq!(sort_status(status, body, None), expected, "{status} {body}");
        };
        check(500, "", WAIT);
        check(429, "rate limit", WAIT);
        check(529, "overloaded", WAIT);
        check(429, "insufficient_quota", ModelErrorKind::Permanent);
        check(401, "bad key", ModelErrorKind::Permanent);
        check(404, "no such model", ModelErrorKind::Permanent);
        check(400, "unknown field", ModelErrorKind::Permanent);
        check(
            400,
            r#"{"error":{"code":"context_length_exceeded"}}"#,
            ModelErrorKind::TooLong,
        );
        check(400, "prompt is too long: 9 > 8", ModelErrorKind::TooLong);
        check(
            500,
            "the request exceeds the available context size",
            ModelErrorKind::TooLong,
        );
        check(413, "", ModelErrorKind::TooLong);
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_700);
        let check = |value, expected: Option<u64>| {
            assert_eq!(
                parse_retry_after(value, now),
                expected.map(Duration::from_secs),
                "{value}"
            );
        };
        check("7", Some(7));
        check(" 120 ", Some(120));
        check("Sun, 06 Nov 1994 08:49:37 GMT", Some(77));
        check("Sun, 06 Nov 1994 08:00:00 GMT", Some(0));
        check("-3", None);
        check("soon", None);
        check("Sun, 06 Foo 1994 08:49:37 GMT", None);
    }

    #[test]
    fn secrets_are_struck_and_addresses_cut() {
        let call = Call {
            who: "m",
            timeout: Duration::from_secs(1),
            secret: Some("sk-123"),
        };
        let error = call.permanent("key sk-123 is wrong");
        assert_eq!(error.message, "key [secret] is wrong");
        assert_eq!(
            origin("https://h.example:8/v1/x?key=1"),
            "https://h.example:8"
        );
        assert_eq!(origin("http://h.example"), "http://h.example");
    }

    #[test]
    fn loopback_is_never_sent_through_a_proxy() {
        let check = |url, expected| assert_eq!(is_loopback(url), expected, "{url}");
        check("http://127.0.0.1:8080/v1", true);
        check("http://localhost/v1", true);
        check("http://[::1]:80/", true);
        check("http://localhost.example/v1", false);
        check("http://10.0.0.1/", false);
    }

    #[test]
    fn the_providers_own_words_are_found() {
        let check = |body, expected| assert_eq!(own_words(body), expected, "{body}");
        check(r#"{"error":{"message":"no such model"}}"#, "no such model");
        check(r#"{"error":"model not found"}"#, "model not found");
        check("<html>busy</html>", "<html>busy</html>");
        check("", "no explanation");
    }
}
