//! Models from a model hub: file by file, resumed where a run broke off, checked against what the hub says of them.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::path::Path;
use std::time::Duration;

use malha_engine::language_model::ModelError;

use super::manifest::{MANIFEST, Manifest, ModelFile, ModelUse, Pooling, checksum};
use super::models::Models;
use crate::http::{self, Call, Http};

/// For one file.
const TIMEOUT: Duration = Duration::from_hours(2);
const FILES: [&str; 3] = ["config.json", "tokenizer.json", "model.safetensors"];

/// A model that is known by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownModel {
    pub name: &'static str,
    /// Owner and name on the hub.
    pub repository: &'static str,
    pub licence: &'static str,
    pub usage: ModelUse,
    pub query_prefix: &'static str,
    pub passage_prefix: &'static str,
    /// Tokens of a window.
    pub max_tokens: usize,
}

/// Models that `malha models pull` knows.
pub const KNOWN_MODELS: [KnownModel; 5] = [
    embedder(
        "multilingual-e5-small",
        "intfloat/multilingual-e5-small",
        "MIT",
        true,
        512,
    ),
    embedder(
        "multilingual-e5-base",
        "intfloat/multilingual-e5-base",
        "MIT",
        true,
        512,
    ),
    embedder(
        "all-MiniLM-L6-v2",
        "sentence-transformers/all-MiniLM-L6-v2",
        "Apache-2.0",
        false,
        256,
    ),
    reranker(
        "mmarco-mMiniLMv2-L12-H384-v1",
        "cross-encoder/mmarco-mMiniLMv2-L12-H384-v1",
    ),
    reranker(
        "ms-marco-MiniLM-L6-v2",
        "cross-encoder/ms-marco-MiniLM-L6-v2",
    ),
];

const fn embedder(
    name: &'static str,
    repository: &'static str,
    licence: &'static str,
    has_prefixes: bool,
    max_tokens: usize,
) -> KnownModel {
    let (query_prefix, passage_prefix) = if has_prefixes {
        ("query: ", "passage: ")
    } else {
        ("", "")
    };
    KnownModel {
        name,
        repository,
        licence,
        usage: ModelUse::Embedder,
        query_prefix,
        passage_prefix,
        max_tokens,
    }
}

const fn reranker(name: &'static str, repository: &'static str) -> KnownModel {
    KnownModel {
        name,
        repository,
        licence: "Apache-2.0",
        usage: ModelUse::Reranker,
        query_prefix: "",
        passage_prefix: "",
        max_tokens: 512,
    }
}

/// A hub, or a mirror of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hub {
    /// Without a slash at its end; `/OWNER/NAME/resolve/main/FILE` is added.
    pub base_url: String,
    /// As a URL; without one, the usual variables count.
    pub proxy: Option<String>,
}

/// What the hub says of a file.
struct Announced {
    bytes: Option<u64>,
    /// Of the large files only.
    sha256: Option<String>,
}

impl Hub {
    /// Brings a model into the models folder. What an earlier run left unfinished is gone on with. `on_file` hears
    /// the name of each file, and its size where the hub says it.
    ///
    /// # Errors
    /// No way to the hub; a file that is not what the hub says it is; a folder that cannot be written.
    pub fn pull(
        &self,
        model: &KnownModel,
        models: &Models,
        on_file: &dyn Fn(&str, Option<u64>),
    ) -> Result<Manifest, ModelError> {
        let http = Http::new(self.proxy.as_deref())?;
        let folder = models.path_of(model.name)?;
        let call = Call {
            who: model.repository,
            timeout: TIMEOUT,
            secrets: &[http::password(&self.base_url)],
        };
        fs::create_dir_all(&folder).map_err(|error| failed(&call, &folder, &error))?;
        let mut files = Vec::new();
        for name in FILES {
            let url = format!("{}/{}/resolve/main/{name}", self.base_url, model.repository);
            let announced = announced(&http.head(&url, &call)?);
            on_file(name, announced.bytes);
            let path = folder.join(name);
            if !is_as_announced(&path, &announced) {
                download(&http, &url, &path, &announced, &call)?;
            }
            let (bytes, sha256) = checksum(&path).map_err(|error| failed(&call, &path, &error))?;
            files.push(ModelFile {
                name: name.to_owned(),
                bytes,
                sha256,
            });
        }
        let manifest = Manifest {
            name: model.name.to_owned(),
            usage: model.usage,
            source: format!(
                "{}/{}",
                http::without_user(&self.base_url),
                model.repository
            ),
            licence: model.licence.to_owned(),
            weights: "model.safetensors".to_owned(),
            query_prefix: model.query_prefix.to_owned(),
            passage_prefix: model.passage_prefix.to_owned(),
            pooling: Pooling::Mean,
            max_tokens: Some(model.max_tokens),
            files,
        };
        let path = folder.join(MANIFEST);
        let json = serde_json::to_string_pretty(&manifest).expect("a manifest is plain JSON");
        fs::write(&path, json).map_err(|error| failed(&call, &path, &error))?;
        Ok(manifest)
    }
}

fn announced(response: &ureq::http::Response<ureq::Body>) -> Announced {
    let header = |name: &str| {
        let value = response.headers().get(name)?.to_str().ok()?;
        Some(value.trim_start_matches("W/").trim_matches('"').to_owned())
    };
    let is_sha256 = |tag: &String| tag.len() == 64 && tag.bytes().all(|b| b.is_ascii_hexdigit());
    Announced {
        bytes: header("x-linked-size")
            .or_else(|| header("content-length"))
            .and_then(|bytes| bytes.parse().ok())
            .filter(|&bytes| bytes > 0),
        sha256: header("x-linked-etag")
            .or_else(|| header("etag"))
            .filter(is_sha256),
    }
}

/// Whether the file is there, whole. A small file of which the hub gives no checksum is fetched again.
fn is_as_announced(path: &Path, announced: &Announced) -> bool {
    let Some(expected) = &announced.sha256 else {
        return false;
    };
    checksum(path).is_ok_and(|(_, sha256)| sha256 == *expected)
}

fn download(
    http: &Http,
    url: &str,
    path: &Path,
    announced: &Announced,
    call: &Call<'_>,
) -> Result<(), ModelError> {
    let part = path.with_extension("part");
    let done = fs::metadata(&part).map_or(0, |file| file.len());
    // What is unfinished is only worth something where a checksum can tell whether it fits.
    let resumed = if announced.sha256.is_some() { done } else { 0 };
    let range = format!("bytes={resumed}-");
    let headers = [("range", range.as_str())];
    let is_whole = resumed > 0 && announced.bytes == Some(resumed);
    if !is_whole {
        let headers = if resumed > 0 { &headers[..] } else { &[] };
        let response = http.get(url, headers, call)?;
        let goes_on = response.status().as_u16() == 206;
        let file = if goes_on {
            OpenOptions::new().append(true).open(&part)
        } else {
            File::create(&part)
        };
        let mut file = file.map_err(|error| failed(call, &part, &error))?;
        let mut body = response.into_body().into_reader();
        let mut buffer = vec![0; 1 << 16];
        loop {
            let read = body.read(&mut buffer).map_err(|error| {
                call.transient(format!("{url}: {error}; run it again to go on from there"))
            })?;
            if read == 0 {
                break;
            }
            let written = file.write_all(&buffer[..read]);
            written.map_err(|error| failed(call, &part, &error))?;
        }
        let synced = file.sync_all();
        synced.map_err(|error| failed(call, &part, &error))?;
    }
    let (bytes, sha256) = checksum(&part).map_err(|error| failed(call, &part, &error))?;
    if announced.bytes.is_some_and(|expected| expected > bytes) {
        let message = format!("{url} ended after {bytes} bytes; run it again to go on from there");
        return Err(call.transient(message));
    }
    let is_right = announced.bytes.is_none_or(|expected| expected == bytes)
        && announced
            .sha256
            .as_ref()
            .is_none_or(|expected| *expected == sha256);
    if !is_right {
        // Going on with it could never end well.
        let removed = fs::remove_file(&part);
        removed.map_err(|error| failed(call, &part, &error))?;
        return Err(call.permanent(format!(
            "{url}: what came is not what the hub says it is; it was deleted"
        )));
    }
    fs::rename(&part, path).map_err(|error| failed(call, path, &error))
}

fn failed(call: &Call<'_>, path: &Path, error: &std::io::Error) -> ModelError {
    call.permanent(format!("{}: {error}", path.display()))
}
