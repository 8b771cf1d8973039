//! From a link's target to the note it means, by the order that `docs/links.md` states.
//!
//! Obsidian's own order was read off `metadataCache.getFirstLinkpathDest` of version 1.13.7, as
//! published in pvliesdonk/markdown-vault-mcp#1380: an exact vault path, then the linking note's own
//! folder, then the shortest path. The last step picks one of several notes that fit equally well;
//! here such a link stays open and is reported with its candidates.

use super::NoteIndex;
use super::link_key::{fold, journal_name, name_of};
use super::link_path::{address, ends_with_path, folder_of, join, plain_path};
use crate::types::{DocumentId, LinkConvention, LinkKind, Resolution, ResolutionRule, scheme};

/// Spelling in which paths are compared.
#[derive(Clone, Copy)]
enum Spelling {
    Exact,
    Folded,
}

enum Picked {
    Nothing,
    One(u32, ResolutionRule),
    Many(Vec<u32>),
}

impl NoteIndex {
    /// What the link `target` in the note `from_uri` means.
    pub fn resolve(
        &self,
        from_uri: &str,
        target: &str,
        kind: LinkKind,
        convention: LinkConvention,
    ) -> Resolution {
        if is_external(target, kind) {
            return Resolution::External;
        }
        let from = plain_path(from_uri);
        if target.trim().is_empty() {
            return self.same_document(&from);
        }
        let root = self.root_of(&from);
        let Some((target, whole)) = address(target, &from, root) else {
            return Resolution::Unresolved;
        };
        let query = Query {
            folded: fold(&target),
            target,
            folder: folder_of(&from),
            root,
            whole,
            beside_first: matches!(kind, LinkKind::Markdown | LinkKind::MarkdownEmbed),
        };
        for is_note in [true, false] {
            let mut picked = self.pick(&query, is_note);
            if is_note && matches!(picked, Picked::Nothing) && convention == LinkConvention::Logseq
            {
                picked = self.pick_logseq(&query);
            }
            if is_note && matches!(picked, Picked::Nothing) && whole.is_none() {
                picked = self.pick_alias(&query);
            }
            match picked {
                Picked::Nothing => {}
                picked => return self.resolution(picked),
            }
        }
        Resolution::Unresolved
    }

    fn resolution(&self, picked: Picked) -> Resolution {
        match picked {
            Picked::Nothing => Resolution::Unresolved,
            Picked::One(place, rule) => {
                let place = &self.places[place as usize];
                match place.document {
                    Some(document) => Resolution::Resolved { document, rule },
                    None => Resolution::Attachment {
                        path: place.uri.clone(),
                    },
                }
            }
            Picked::Many(mut places) => {
                places.sort_by(|&a, &b| {
                    let uri = |place: u32| &self.places[place as usize].uri;
                    uri(a).cmp(uri(b))
                });
                let candidates: Vec<DocumentId> = places
                    .iter()
                    .filter_map(|&place| self.places[place as usize].document)
                    .collect();
                if candidates.is_empty() {
                    // Several attachments: no edge depends on which; the first by path stands for them.
                    return self.resolution(Picked::One(places[0], ResolutionRule::UniqueStem));
                }
                Resolution::Ambiguous { candidates }
            }
        }
    }

    fn same_document(&self, from: &str) -> Resolution {
        self.named(name_of(&fold(from)))
            .find(|&place| self.places[place as usize].path == from)
            .map_or(Resolution::Unresolved, |place| {
                self.resolution(Picked::One(place, ResolutionRule::SameDocument))
            })
    }

    /// Places written exactly so come before those that differ in case; the own source before
    /// all others.
    fn pick(&self, query: &Query<'_>, is_note: bool) -> Picked {
        let mut named: Vec<u32> = self
            .named(name_of(&query.folded))
            .filter(|&place| self.places[place as usize].document.is_some() == is_note)
            .collect();
        if named.is_empty() {
            return Picked::Nothing;
        }
        named.reverse();
        let own: Vec<u32> = named
            .iter()
            .copied()
            .filter(|&place| self.root_of(&self.places[place as usize].path) == query.root)
            .collect();
        let scopes = if own.len() == named.len() {
            vec![own]
        } else {
            vec![own, named]
        };
        for scope in scopes {
            for spelling in [Spelling::Exact, Spelling::Folded] {
                match self.pick_among(&scope, query, spelling) {
                    Picked::Nothing => {}
                    picked => return picked,
                }
            }
        }
        Picked::Nothing
    }

    fn pick_among(&self, places: &[u32], query: &Query<'_>, spelling: Spelling) -> Picked {
        let folded;
        let (target, folder, root) = match spelling {
            Spelling::Exact => (query.target.as_str(), query.folder, query.root),
            Spelling::Folded => {
                folded = (fold(query.folder), fold(query.root));
                (query.folded.as_str(), folded.0.as_str(), folded.1.as_str())
            }
        };
        let path = |place: u32| {
            let place = &self.places[place as usize];
            match spelling {
                Spelling::Exact => place.path.as_str(),
                Spelling::Folded => place.folded.as_str(),
            }
        };
        let at = |full: &str| places.iter().copied().find(|&place| path(place) == full);
        if let Some(rule) = query.whole {
            return at(target).map_or(Picked::Nothing, |place| Picked::One(place, rule));
        }
        let from_root =
            || at(&join(root, target)).map(|place| Picked::One(place, ResolutionRule::FullPath));
        let beside = || {
            let rule = if target.contains('/') {
                ResolutionRule::RelativePath
            } else {
                ResolutionRule::SameFolder
            };
            at(&join(folder, target)).map(|place| Picked::One(place, rule))
        };
        let near = if query.beside_first {
            beside().or_else(from_root)
        } else {
            from_root().or_else(beside)
        };
        if let Some(picked) = near {
            return picked;
        }
        let ending: Vec<u32> = places
            .iter()
            .copied()
            .filter(|&place| ends_with_path(path(place), target))
            .collect();
        let rule = if target.contains('/') {
            ResolutionRule::PathSuffix
        } else {
            ResolutionRule::UniqueStem
        };
        picked_from(ending, rule)
    }

    /// Logseq keeps the page `a/b` in `a___b.md` (`a%2Fb.md` before), a journal in `2024_05_01.md`.
    fn pick_logseq(&self, query: &Query<'_>) -> Picked {
        let names = [
            query.folded.replace('/', "___"),
            query.folded.replace('/', "%2f"),
            journal_name(&query.folded).unwrap_or_default(),
        ];
        for name in names.iter().filter(|name| **name != query.folded) {
            let found: Vec<u32> = self
                .named(name)
                .filter(|&place| self.places[place as usize].document.is_some())
                .collect();
            if !found.is_empty() {
                return picked_from(
                    self.own_or_all(found, query.root),
                    ResolutionRule::UniqueStem,
                );
            }
        }
        Picked::Nothing
    }

    fn pick_alias(&self, query: &Query<'_>) -> Picked {
        let Some(places) = self.by_alias.get(&query.folded) else {
            return Picked::Nothing;
        };
        picked_from(
            self.own_or_all(places.clone(), query.root),
            ResolutionRule::Alias,
        )
    }
}

struct Query<'a> {
    /// NFC, without `.md`.
    target: String,
    folded: String,
    /// Folder of the linking note.
    folder: &'a str,
    /// Label of its source.
    root: &'a str,
    /// The target is a whole path, written from the root or with `./`, `../`: the rule it stands for.
    whole: Option<ResolutionRule>,
    /// A markdown link is relative to its own file before it is a path from the root.
    beside_first: bool,
}

fn picked_from(places: Vec<u32>, rule: ResolutionRule) -> Picked {
    match places.as_slice() {
        [] => Picked::Nothing,
        [place] => Picked::One(*place, rule),
        _ => Picked::Many(places),
    }
}

/// A web or mail address. Only a markdown link may have any scheme: a note's name may hold a colon.
fn is_external(target: &str, kind: LinkKind) -> bool {
    let is_markdown = matches!(kind, LinkKind::Markdown | LinkKind::MarkdownEmbed);
    target.starts_with("//")
        || scheme(target).is_some_and(|(scheme, rest)| {
            is_markdown || rest.starts_with("//") || scheme.eq_ignore_ascii_case("mailto")
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{NoteRef, link_key};

    struct Vault {
        notes: Vec<(&'static str, Vec<String>)>,
        attachments: Vec<&'static str>,
    }

    impl Vault {
        fn index(&self) -> NoteIndex {
            NoteIndex::new(
                self.notes.iter().enumerate().map(|(row, note)| NoteRef {
                    document: DocumentId(row as i64),
                    uri: note.0,
                    aliases: &note.1,
                }),
                self.attachments.iter().copied(),
            )
        }

        fn shown(&self, resolution: Resolution) -> String {
            let uri = |document: DocumentId| self.notes[document.0 as usize].0;
            match resolution {
                Resolution::Resolved { document, rule } => format!("{} {rule:?}", uri(document)),
                Resolution::Ambiguous { candidates } => candidates
                    .into_iter()
                    .map(uri)
                    .collect::<Vec<_>>()
                    .join(" | "),
                Resolution::Unresolved => "-".to_owned(),
                Resolution::Attachment { path } => format!("file {path}"),
                Resolution::External => "external".to_owned(),
            }
        }
    }

    fn vault() -> Vault {
        let note = |uri, aliases: &[&str]| (uri, aliases.iter().map(|&a| a.to_owned()).collect());
        Vault {
            notes: vec![
                note("Home.md", &[]),
                note("Concepts/hub.md", &["Centre", "Shared"]),
                note("Maps/start.md", &[]),
                note("Maps/near.md", &[]),
                note("Other/near.md", &[]),
                note("Other/Home.md", &["Shared"]),
                note("projects/alpha/plan.md", &[]),
                note("archive/projects/alpha/notes.md", &[]),
                note("a/twin.md", &[]),
                note("b/twin.md", &[]),
                note("Words/Case.md", &[]),
                note("Words/case.md", &[]),
                note("Geo/São Paulo.md", &[]),
                note("v1.2 notes.md", &[]),
                note("paper.pdf", &[]),
                note("人/安娜.md", &["阿娜"]),
            ],
            attachments: vec![
                "files/pic.png",
                "x/dup.png",
                "y/dup.png",
                "Maps/board.canvas",
            ],
        }
    }

    fn check(from: &str, target: &str, kind: LinkKind, expected: &str) {
        let vault = vault();
        let found = vault
            .index()
            .resolve(from, target, kind, LinkConvention::Obsidian);
        assert_eq!(vault.shown(found), expected, "{target} from {from}");
    }

    #[test]
    fn the_order_of_rules() {
        let check = |target, expected| check("Maps/start.md", target, LinkKind::Wikilink, expected);
        check("", "Maps/start.md SameDocument");
        check("Home", "Home.md FullPath");
        check("Other/Home", "Other/Home.md FullPath");
        check("/Other/Home", "Other/Home.md FullPath");
        check("/hub", "-");
        check("../Concepts/hub", "Concepts/hub.md RelativePath");
        check("./near", "Maps/near.md RelativePath");
        check("../../hub", "-");
        check("near", "Maps/near.md SameFolder");
        check("hub", "Concepts/hub.md UniqueStem");
        check("hub.md", "Concepts/hub.md UniqueStem");
        check("alpha/plan", "projects/alpha/plan.md PathSuffix");
        check("lpha/plan", "-");
        check(
            "projects/alpha/notes",
            "archive/projects/alpha/notes.md PathSuffix",
        );
        check("twin", "a/twin.md | b/twin.md");
        check("a/twin", "a/twin.md FullPath");
        check("PLAN", "projects/alpha/plan.md UniqueStem");
        check("Case", "Words/Case.md UniqueStem");
        check("case", "Words/case.md UniqueStem");
        check("CASE", "Words/Case.md | Words/case.md");
        check("Sa\u{303}o Paulo", "Geo/São Paulo.md UniqueStem");
        check("são\u{a0}paulo", "Geo/São Paulo.md UniqueStem");
        check("v1.2 notes", "v1.2 notes.md FullPath");
        check("centre", "Concepts/hub.md Alias");
        check("Shared", "Concepts/hub.md | Other/Home.md");
        check("阿娜", "人/安娜.md Alias");
        check("pic.png", "file files/pic.png");
        check("pic", "-");
        check("dup.png", "file x/dup.png");
        check("board.canvas", "file Maps/board.canvas");
        check("paper.pdf", "paper.pdf FullPath");
        check("nowhere", "-");
        check("https://a.b/c", "external");
        check("Q: what", "-");
    }

    #[test]
    fn markdown_links_are_relative_first() {
        let check = |from, target, expected| check(from, target, LinkKind::Markdown, expected);
        check("Other/near.md", "Home", "Other/Home.md SameFolder");
        check(
            "Maps/start.md",
            "../Other/near",
            "Other/near.md RelativePath",
        );
        check("Maps/start.md", "Home", "Home.md FullPath");
        check("Maps/start.md", "mailto:a@b.c", "external");
        check("Maps/start.md", "../files/pic.png", "file files/pic.png");
    }

    #[test]
    fn own_source_first() {
        let note = |row, uri| NoteRef {
            document: DocumentId(row),
            uri,
            aliases: &[],
        };
        let index = NoteIndex::new(
            [
                note(0, "one/a.md"),
                note(1, "two/a.md"),
                note(2, "two/x/b.md"),
                note(3, "/c.md"),
            ],
            [],
        )
        .with_roots(["one".to_owned(), "two".to_owned(), String::new()]);
        let check = |from: &str, target: &str, document: i64, rule: ResolutionRule| {
            let found = index.resolve(from, target, LinkKind::Wikilink, LinkConvention::Obsidian);
            let expected = Resolution::Resolved {
                document: DocumentId(document),
                rule,
            };
            assert_eq!(found, expected, "{target} from {from}");
        };
        check("one/z/q.md", "a", 0, ResolutionRule::FullPath);
        check("two/z/q.md", "/a", 1, ResolutionRule::FullPath);
        check("one/z/q.md", "b", 2, ResolutionRule::UniqueStem);
        check("one/z/q.md", "c", 3, ResolutionRule::UniqueStem);
        check("/c.md", "", 3, ResolutionRule::SameDocument);
    }

    #[test]
    fn logseq_pages() {
        let note = |row, uri| NoteRef {
            document: DocumentId(row),
            uri,
            aliases: &[],
        };
        let index = NoteIndex::new(
            [
                note(0, "pages/a___b.md"),
                note(1, "pages/c%2Fd.md"),
                note(2, "journals/2024_05_01.md"),
            ],
            [],
        );
        let check = |target: &str, document: i64| {
            let found = index.resolve(
                "pages/x.md",
                target,
                LinkKind::Wikilink,
                LinkConvention::Logseq,
            );
            assert!(
                matches!(found, Resolution::Resolved { document: DocumentId(row), .. } if row == document),
                "{target}: {found:?}"
            );
            let uri =
                ["pages/a___b.md", "pages/c%2Fd.md", "journals/2024_05_01.md"][document as usize];
            let keys = keys_of(&note(document, uri));
            assert!(keys.contains(&link_key(target)), "{target}: {keys:?}");
        };
        check("a/b", 0);
        check("A/B", 0);
        check("c/d", 1);
        check("May 1st, 2024", 2);
        check("2024-05-01", 2);
    }

    /// The keys under which the pipeline looks for links again when the note appears or goes.
    fn keys_of(note: &NoteRef<'_>) -> Vec<String> {
        let names = note.aliases.iter().map(String::as_str);
        names.chain([note.uri]).map(link_key).collect()
    }

    #[test]
    fn keys_cover_every_way_to_a_note() {
        let vault = vault();
        let index = vault.index();
        let targets = [
            "hub",
            "Concepts/HUB",
            "../Concepts/hub",
            "centre",
            "São Paulo",
            "阿娜",
        ];
        for target in targets {
            let found = index.resolve(
                "Maps/start.md",
                target,
                LinkKind::Wikilink,
                LinkConvention::Obsidian,
            );
            let Resolution::Resolved { document, .. } = found else {
                panic!("{target}: {found:?}");
            };
            let (uri, aliases) = &vault.notes[document.0 as usize];
            let keys = keys_of(&NoteRef {
                document,
                uri,
                aliases,
            });
            assert!(keys.contains(&link_key(target)), "{target}: {keys:?}");
        }
    }
}
