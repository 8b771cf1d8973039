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
/// Characters of a page that should have been JSON.
const SHOWN_PAGE: usize = 80;
/// Timeouts that a stream may take as a whole: there is an end to everything.
const LONGEST_STREAM: u32 = 30;
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
            Some(url) => Some(Proxy::new(url).map_err(|_| {
                ModelError::new(
                    ModelErrorKind::Permanent,
                    "proxy",
                    "the configured proxy is no URL of the form http://host:port",
                )
            })?),
        };
        Ok(Self {
            proxy,
            direct: OnceLock::new(),
            through_proxy: OnceLock::new(),
            secure: OnceLock::new(),
        })
    }

    /// Sends `body` as JSON.
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
        self.send((url, headers, body), call, call.timeout)
    }

    /// [`Http::post`], for an answer that comes in pieces: it may take long, as long as no two of them are further
    /// apart than the call's timeout.
    ///
    /// # Errors
    /// As [`Http::post`].
    pub fn post_for_stream(
        &self,
        url: &str,
        headers: &[(&str, &str)],
        body: &Value,
        call: &Call<'_>,
    ) -> Result<http::Response<Body>, ModelError> {
        let longest = call.timeout.saturating_mul(LONGEST_STREAM);
        self.send((url, headers, body), call, longest)
    }

    fn send(
        &self,
        (url, headers, body): (&str, &[(&str, &str)], &Value),
        call: &Call<'_>,
        longest: Duration,
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
            .timeout_global(Some(longest))
            .timeout_per_read(Some(call.timeout))
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
    /// From the first byte sent to the last one read; of a stream, from one piece to the next.
    pub timeout: Duration,
    /// Never shown, wherever the other side may repeat them: keys, and the password of an address.
    pub secrets: &'a [&'a str],
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
            let start = self.shown(&text, SHOWN_PAGE);
            self.lost(format!("the reply is no JSON ({error}): {start}"))
        })
    }

    /// A failure that may pass.
    pub fn transient(&self, message: impl Into<String>) -> ModelError {
        self.error(ModelErrorKind::Transient { retry_after: None }, message)
    }

    /// A failure that may pass, of a call that the other side may have answered and billed.
    pub fn lost(&self, message: impl Into<String>) -> ModelError {
        let mut error = self.transient(message);
        error.effort.lost = 1;
        error
    }

    /// The model will not answer this.
    pub fn refused(&self, words: &str) -> ModelError {
        let words = self.shown(words.trim(), SHOWN_ERROR);
        let mut error = self.error(
            ModelErrorKind::Refused,
            format!("the model refused: {words}"),
        );
        error.effort.lost = 1;
        error
    }

    /// A reply whose reading ended early.
    pub fn stopped(&self, error: &std::io::Error) -> ModelError {
        let cause = error.get_ref().and_then(|cause| cause.downcast_ref());
        if let Some(ureq::Error::Timeout(ureq::Timeout::Global)) = cause {
            self.lost("the reply had not ended after thirty times timeout_ms")
        } else if let Some(ureq::Error::Timeout(_)) = cause {
            self.silent()
        } else {
            self.lost(format!("the stream broke off: {error}"))
        }
    }

    fn silent(&self) -> ModelError {
        let seconds = self.timeout.as_secs_f32().ceil();
        self.lost(format!("no answer within {seconds} s (timeout_ms)"))
    }

    /// A failure that stays.
    pub fn permanent(&self, message: impl Into<String>) -> ModelError {
        self.error(ModelErrorKind::Permanent, message)
    }

    /// A failure of this kind, without the secrets.
    pub fn error(&self, kind: ModelErrorKind, message: impl Into<String>) -> ModelError {
        ModelError::new(kind, self.who.to_owned(), self.strike(&message.into()))
    }

    fn strike(&self, text: &str) -> String {
        let secrets = self.secrets.iter().filter(|secret| !secret.is_empty());
        secrets.fold(text.to_owned(), |text, secret| {
            text.replace(secret, "[secret]")
        })
    }

    /// The start of what the other side said. Secrets are struck before it is cut: half a key is one too.
    fn shown(&self, text: &str, characters: usize) -> String {
        self.strike(text).chars().take(characters).collect()
    }

    /// A reply that broke off, or a connection that failed.
    pub fn broken(&self, error: &ureq::Error) -> ModelError {
        match error {
            // Nobody got the question.
            ureq::Error::Timeout(
                ureq::Timeout::Resolve | ureq::Timeout::Connect | ureq::Timeout::SendRequest,
            )
            | ureq::Error::HostNotFound
            | ureq::Error::ConnectionFailed => self.transient(error.to_string()),
            ureq::Error::Io(io) if io.kind() == std::io::ErrorKind::ConnectionRefused => {
                self.transient(error.to_string())
            }
            ureq::Error::Timeout(_) => self.silent(),
            // Its message holds the address, which may hold a password.
            ureq::Error::BadUri(_) => self.permanent("the address is no URL that can be asked"),
            ureq::Error::Http(_)
            | ureq::Error::InvalidProxyUrl
            | ureq::Error::RedirectFailed
            | ureq::Error::TooManyRedirects
            | ureq::Error::BodyExceedsLimit(_)
            | ureq::Error::Tls(_)
            | ureq::Error::Rustls(_) => self.permanent(error.to_string()),
            other => self.lost(other.to_string()),
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
        let words = self.shown(&own_words(&body), SHOWN_ERROR);
        Err(self.error(kind, format!("HTTP {status}: {words}")))
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
    let origin = origin(url);
    let host = origin.split_once("://").map_or(&*origin, |(_, host)| host);
    host.starts_with("[::1]")
        || host.split(':').next().is_some_and(|host| {
            host == "localhost"
                || host
                    .parse::<std::net::IpAddr>()
                    .is_ok_and(|address| address.is_loopback())
        })
}

/// Scheme, host and port: what may be shown of an address, whose other parts may hold more.
pub fn origin(url: &str) -> String {
    let (scheme, _, host, _) = parts(url);
    format!("{scheme}{host}")
}

/// An address without the name and password that may stand in it.
pub fn without_user(url: &str) -> String {
    let (scheme, _, host, rest) = parts(url);
    format!("{scheme}{host}{rest}")
}

/// The password that stands in an address; empty where none does.
pub fn password(url: &str) -> &str {
    let (_, user, ..) = parts(url);
    user.split_once(':').map_or("", |(_, password)| password)
}

/// Scheme with its `://`, user and password, host with port, and the rest.
fn parts(url: &str) -> (&str, &str, &str, &str) {
    let (scheme, rest) = url.split_at(url.find("://").map_or(0, |at| at + 3));
    let (authority, rest) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
    (scheme, user, host, rest)
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
    // Of the text, not of the request: another one may be answered.
    const FILTERED: [&str; 3] = [
        "content_filter",
        "content management policy",
        "content filtering policy",
    ];
    let words = body.to_lowercase();
    match status {
        400..=499 if FILTERED.iter().any(|words_of| words.contains(words_of)) => {
            ModelErrorKind::Refused
        }
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

/// The message inside a provider's error, or its page.
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
    words.to_owned()
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
        check(
            400,
            r#"{"error":{"code":"content_filter"}}"#,
            ModelErrorKind::Refused,
        );
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
            secrets: &["", "sk-123", "pass"],
        };
        let error = call.permanent("key sk-123 is wrong, and so is pass");
        assert_eq!(error.message, "key [secret] is wrong, and so is [secret]");
        assert_eq!(call.shown("a key: sk-123", 9), "a key: [s");
        let check = |url, shown, secret| {
            assert_eq!(
                (origin(url).as_str(), password(url)),
                (shown, secret),
                "{url}"
            );
        };
        check("https://h.example:8/v1/x?key=1", "https://h.example:8", "");
        check("http://h.example", "http://h.example", "");
        check("http://ana:s3c@ret@h:8/v1", "http://h:8", "s3c@ret");
        check("http://ana@h/x@y", "http://h", "");
        assert_eq!(without_user("http://ana:secret@h:8/v1"), "http://h:8/v1");
    }

    #[test]
    fn loopback_is_never_sent_through_a_proxy() {
        let check = |url, expected| assert_eq!(is_loopback(url), expected, "{url}");
        check("http://127.0.0.1:8080/v1", true);
        check("http://localhost/v1", true);
        check("http://ana:secret@localhost/v1", true);
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
