//! `Hub::pull` against a hub of this machine: whole files, files that break off and are gone on with, files that are
//! not what the hub says, and no hub at all.

#[allow(dead_code, reason = "shared with tests that use other parts of it")]
mod stub;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use malha_providers::local::{Hub, KNOWN_MODELS, Models};
use stub::{Answer, Received, Stub};

/// SHA-256 of [`WEIGHTS`].
const SHA256: &str = "84d89877f0d4041efb6bf91a16f0248f2fd573e6af05c19f96bedb9f882f7882";
const WEIGHTS: &str = "0123456789";

fn whole(request: &Received, sha256: &str) -> Answer {
    let is_weights = request.path.ends_with("model.safetensors");
    let body = if is_weights { WEIGHTS } else { "{}" };
    let mut headers = Vec::new();
    if is_weights {
        headers.push(("x-linked-etag".to_owned(), format!("\"{sha256}\"")));
    }
    let range = request.headers.iter().find(|header| header.0 == "range");
    let start: Option<usize> = range.and_then(|range| {
        let range = range.1.strip_prefix("bytes=")?;
        range.trim_end_matches('-').parse().ok()
    });
    match start {
        Some(start) => Answer::Status(206, headers, body[start..].to_owned()),
        None => Answer::Status(200, headers, body.to_owned()),
    }
}

fn pull(hub: &str, models: &Models) -> Result<(), String> {
    let hub = Hub {
        base_url: hub.to_owned(),
        proxy: None,
    };
    let pulled = hub.pull(&KNOWN_MODELS[0], models, &|_, _| {});
    pulled.map(drop).map_err(|error| error.to_string())
}

#[test]
fn what_breaks_off_is_gone_on_with_and_checked() {
    let folder = tempfile::tempdir().unwrap();
    let models = Models::new(folder.path().to_owned());
    let breaks = Arc::new(AtomicBool::new(true));
    let once = Arc::clone(&breaks);
    let stub = Stub::start(move |request| {
        let is_weights = request.path.ends_with("model.safetensors");
        // The head tells the size; the first download ends early.
        if is_weights && request.method == "GET" && once.swap(false, Ordering::SeqCst) {
            return Answer::Half(WEIGHTS.to_owned());
        }
        whole(request, SHA256)
    });
    assert!(pull(&stub.url, &models).is_err());
    assert!(
        models.find("multilingual-e5-small").is_err(),
        "it is not there yet"
    );
    pull(&stub.url, &models).unwrap();
    let found = models.find("multilingual-e5-small").unwrap();
    assert_eq!(
        std::fs::read_to_string(found.join("model.safetensors")).unwrap(),
        WEIGHTS
    );
    let ranges = stub.received();
    let resumed = ranges.iter().flat_map(|request| &request.headers);
    let resumed = resumed.filter(|header| header.0 == "range" && header.1 == "bytes=5-");
    assert_eq!(resumed.count(), 1);
    let (_, manifest) = models.list().remove(0);
    let manifest = manifest.unwrap();
    assert_eq!(manifest.query_prefix, "query: ");
    assert!(manifest.verify(&found).is_empty());
    // What is there, whole, is not fetched again.
    let before = stub
        .received()
        .iter()
        .filter(|request| request.method == "GET")
        .count();
    pull(&stub.url, &models).unwrap();
    let after = stub
        .received()
        .iter()
        .filter(|request| request.method == "GET")
        .count();
    assert_eq!(after - before, 2, "only the files that have no checksum");
}

#[test]
fn what_is_not_what_the_hub_says_is_deleted() {
    let folder = tempfile::tempdir().unwrap();
    let models = Models::new(folder.path().to_owned());
    let stub = Stub::start(|request| whole(request, &"0".repeat(64)));
    let error = pull(&stub.url, &models).unwrap_err();
    assert!(error.contains("not what the hub says"), "{error}");
    assert!(models.find("multilingual-e5-small").is_err());
    let parts = std::fs::read_dir(folder.path().join("multilingual-e5-small")).unwrap();
    let names: Vec<_> = parts.map(|entry| entry.unwrap().file_name()).collect();
    assert!(
        names
            .iter()
            .all(|name| !name.to_string_lossy().ends_with("part")),
        "{names:?}"
    );
}

#[test]
fn without_a_hub_the_error_names_it() {
    let folder = tempfile::tempdir().unwrap();
    let models = Models::new(folder.path().to_owned());
    let error = pull("http://127.0.0.1:9", &models).unwrap_err();
    assert!(error.contains("http://127.0.0.1:9"), "{error}");
    let gone = Stub::start(|_| Answer::error(404, "no such model"));
    let error = pull(&gone.url, &models).unwrap_err();
    assert!(error.contains("404"), "{error}");
}
