//! A link that is only quoted must not keep a retired note alive (bug log D26).

use malha_engine::sources::{Format, ReadOptions, read};
use malha_engine::types::{LinkKind, ParsedDocument};

const QUOTED: &str = "---
hub: \"[[Front]]\"
note: plain
# a YAML comment with [[Comment in YAML]]
---
# Note

```
[[Fenced]]
```

~~~md
> [[Tildes]]
~~~

> ```
> [[Fenced in a quote]]
> ```

- item

      [[Indented code in a list]]

Text.

    [[Indented]]

Inline `[[One tick]]` and ``a ` tick [[Two ticks]]`` and `code
over [[Two lines]] lines`.
A comment <!-- [[Comment]] --> and math $[[Math]]$, $$[[Display]]$$.

<!--
[[Comment block]]
-->

<pre>
[[Preformatted]]
</pre>

Escaped: \\[[Escaped]], \\[\\[Both escaped\\]\\], [[Closing escaped\\]].
Web <a href=\"[[Attribute]]\">code</a> and <code>[[Code tag]]</code>.
";

fn parse(text: &str) -> ParsedDocument {
    let outcome = read(
        text.as_bytes(),
        "note.md",
        Format::Markdown,
        &ReadOptions::default(),
    );
    assert!(outcome.failures.is_empty());
    outcome.documents.into_iter().next().expect("one document")
}

fn targets(document: &ParsedDocument) -> Vec<(LinkKind, &str)> {
    document
        .links
        .iter()
        .map(|link| (link.kind, link.target.as_str()))
        .collect()
}

#[test]
fn only_prose_and_front_matter_make_links() {
    let with_prose = format!("{QUOTED}\nAnd once in prose: [[Hub]].\n");
    let document = parse(&with_prose);
    assert_eq!(
        targets(&document),
        [
            (LinkKind::FrontMatter, "Front"),
            (LinkKind::Wikilink, "Hub")
        ]
    );
    assert_eq!(document.links[0].relation.as_deref(), Some("hub"));
}

#[test]
fn without_the_prose_link_the_edge_is_gone() {
    assert_eq!(targets(&parse(QUOTED)), [(LinkKind::FrontMatter, "Front")]);
}

#[test]
fn markdown_links_and_tags_in_code_do_not_count_either() {
    let document = parse("`[a](b.md)` `#no`\n\n```\n[a](b.md) #no\n```\n\n[c](d.md) #yes");
    assert_eq!(targets(&document), [(LinkKind::Markdown, "d")]);
    assert_eq!(document.tags, ["yes"]);
}
