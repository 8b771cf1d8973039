use std::path::Path;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::types::Skipped;

/// Ignore files, the stronger first: a `!pattern` of the first brings back what the second drops.
const FILES: [&str; 2] = [".malhaignore", ".gitignore"];

/// The ignore files of a folder and of the folders above it.
#[derive(Debug)]
pub(super) struct IgnoreRules<'a> {
    /// In the order of [`FILES`].
    own: [Option<Gitignore>; 2],
    parent: Option<&'a IgnoreRules<'a>>,
    /// No rule here or above.
    empty: bool,
    /// Rules of the folders above the walk's root, nearest first.
    above: Vec<[Option<Gitignore>; 2]>,
}

impl<'a> IgnoreRules<'a> {
    /// Rules of the folders above `root` (absolute), up to the one that holds `.git`; none without one.
    pub(super) fn above(root: &Path, problems: &mut Vec<Skipped>) -> IgnoreRules<'static> {
        let mut above = Vec::new();
        let parents: Vec<&Path> = root.ancestors().skip(1).collect();
        if !root.join(".git").exists()
            && let Some(last) = parents.iter().position(|path| path.join(".git").exists())
        {
            for folder in &parents[..=last] {
                let own = FILES.map(|name| {
                    folder
                        .join(name)
                        .is_file()
                        .then(|| compile(folder, &folder.join(name), problems))
                });
                if own.iter().any(Option::is_some) {
                    above.push(own);
                }
            }
        }
        IgnoreRules {
            own: [None, None],
            parent: None,
            empty: above.is_empty(),
            above,
        }
    }

    /// Rules inside `folder`, which is directly below the folder of `self`.
    pub(super) fn below(
        &'a self,
        folder: &Path,
        uri: &str,
        has: impl Fn(&str) -> bool,
        problems: &mut Vec<Skipped>,
    ) -> IgnoreRules<'a> {
        let mut own = [None, None];
        for (rules, name) in own.iter_mut().zip(FILES) {
            if has(name) {
                let mut found = Vec::new();
                *rules = Some(compile(folder, &folder.join(name), &mut found));
                problems.extend(found.into_iter().map(|problem| Skipped {
                    uri: if uri.is_empty() {
                        name.to_owned()
                    } else {
                        format!("{uri}/{name}")
                    },
                    ..problem
                }));
            }
        }
        IgnoreRules {
            empty: self.empty && own.iter().all(Option::is_none),
            own,
            parent: Some(self),
            above: Vec::new(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.empty
    }

    /// Why `path` (absolute, like the root) is ignored, if it is: the nearest file with a matching
    /// pattern decides.
    pub(super) fn ignored(&self, path: &Path, is_folder: bool) -> Option<String> {
        for (kind, name) in FILES.iter().enumerate() {
            let mut level = Some(self);
            while let Some(rules) = level {
                let outside = rules.above.iter().filter_map(|own| own[kind].as_ref());
                for own in rules.own[kind].iter().chain(outside) {
                    match own.matched(path, is_folder) {
                        Match::Ignore(glob) => {
                            return Some(format!("ignored by {name}: {}", glob.original()));
                        }
                        Match::Whitelist(_) => return None,
                        Match::None => {}
                    }
                }
                level = rules.parent;
            }
        }
        None
    }
}

/// What is wrong with a rule, and in which line. The folder's place on this machine is nobody's business: what is
/// listed is part of the digest.
fn without_path(error: &ignore::Error) -> String {
    match error {
        ignore::Error::WithPath { err, .. } => without_path(err),
        ignore::Error::WithLineNumber { line, err } => {
            format!("line {line}: {}", without_path(err))
        }
        ignore::Error::Partial(errors) => {
            let errors: Vec<String> = errors.iter().map(without_path).collect();
            errors.join("; ")
        }
        other => other.to_string(),
    }
}

/// Bad lines are listed; the good ones apply.
fn compile(folder: &Path, file: &Path, problems: &mut Vec<Skipped>) -> Gitignore {
    let mut builder = GitignoreBuilder::new(folder);
    let mut report = |error: ignore::Error| {
        problems.push(Skipped {
            uri: file.display().to_string(),
            reason: format!("a rule of this file was left out: {}", without_path(&error)),
        });
    };
    if let Some(error) = builder.add(file) {
        report(error);
    }
    builder.build().unwrap_or_else(|error| {
        report(error);
        Gitignore::empty()
    })
}
