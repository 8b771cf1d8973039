//! How entities and relations are written.

use std::io::{self, Write};

use malha_engine::types::{
    ClaimView, EntityView, EvidenceView, RelationTimes, RelationView, Standing,
};

use crate::ui::{ACCENT, DIM, PATH, STRONG, Table, painted, place, plain_line};

/// A list of entities, one a line.
pub(crate) fn entities(out: &mut impl Write, entities: &[EntityView]) -> io::Result<()> {
    let mut table = Table::new(&["name", "kind", ">relations", ">mentions", "note"]);
    for entity in entities {
        table.row([
            entity.name.clone(),
            kind(entity),
            entity.degree.to_string(),
            entity.mentions.to_string(),
            entity.uri.clone().unwrap_or_default(),
        ]);
    }
    table.write(out)
}

/// The kind, or the types where some are stated.
pub(crate) fn kind(entity: &EntityView) -> String {
    if entity.types.is_empty() {
        entity.kind.as_str().to_owned()
    } else {
        entity.types.join(", ")
    }
}

/// `A —works with→ B`
pub(crate) fn relation(out: &mut impl Write, relation: &RelationView) -> io::Result<()> {
    writeln!(
        out,
        "{} {} {}",
        painted(STRONG, plain_line(&relation.source)),
        painted(ACCENT, format!("—{}→", plain_line(&relation.relation_type))),
        painted(STRONG, plain_line(&relation.target)),
    )
}

/// `2019 – 2021  Ana, Orion [accusation, suspected] …`, with its id
pub(crate) fn claim(out: &mut impl Write, claim: &ClaimView) -> io::Result<()> {
    let mut about = plain_line(&claim.subject);
    if let Some(object) = &claim.object {
        about = format!("{about}, {}", plain_line(object));
    }
    let mut remark = format!(
        "{}, {}",
        plain_line(&claim.claim_type),
        claim.status.as_str()
    );
    if claim.standing != Standing::Current {
        remark = format!("{remark}, {}", claim.standing.as_str());
    }
    writeln!(
        out,
        "{:<24}  {} [{}] {}  {}",
        period(&claim.times),
        painted(STRONG, about),
        painted(ACCENT, remark),
        plain_line(&claim.description),
        painted(DIM, &claim.id.0)
    )
}

/// Where a relation is stated, in its own words.
pub(crate) fn evidence(out: &mut impl Write, evidence: &EvidenceView) -> io::Result<()> {
    let place = place(&plain_line(&evidence.uri), evidence.line);
    let quote = painted(DIM, plain_line(&evidence.quote));
    writeln!(out, "    {}  {quote}", painted(PATH, place))?;
    let Some(heading) = &evidence.heading else {
        return Ok(());
    };
    let place = format!("{}:{}", plain_line(&heading.uri), heading.line);
    let text = painted(DIM, plain_line(&heading.text));
    writeln!(out, "      → {}  {text}", painted(PATH, place))
}

/// `2019 – 2021-05`, as written where it is written, else as days. Nothing where neither end is known.
pub(crate) fn period(times: &RelationTimes) -> String {
    let shown = |written: &Option<String>, at: &Option<String>| {
        written
            .as_deref()
            .or(at.as_deref().map(|at| at.split('T').next().unwrap_or(at)))
            .map(plain_line)
            .unwrap_or_default()
    };
    let from = shown(&times.valid_from_written, &times.valid_from);
    let to = shown(&times.valid_to_written, &times.valid_to);
    if from.is_empty() && to.is_empty() {
        String::new()
    } else {
        format!("{from} – {to}").trim().to_owned()
    }
}
