//! `malha remember [TEXT…]`, and the facts of `malha link FROM RELATION TO`

use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use malha_engine::Error;
use malha_engine::types::{
    ClaimStatus, ConflictPolicy, GivenClaim, GivenEntity, GivenFact, Memory, MemoryReport, NearBy,
};
use serde_json::Value;

use super::index::open_or_create;
use crate::config::Settings;
use crate::exit::{Exit, Refusal};
use crate::ui::{Output, count, plain_line, stderr};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// What to remember
    #[arg(value_name = "TEXT")]
    text: Vec<String>,
    /// Read memories from a file instead (`-`: stdin): one JSON object, a list, or one object a line
    #[arg(long, value_name = "FILE", conflicts_with_all = ["text", "entity", "fact", "claim"])]
    file: Option<PathBuf>,
    /// Who said it
    #[arg(long, value_name = "NAME")]
    speaker: Option<String>,
    /// When it was said; otherwise now
    #[arg(long, value_name = "DATE")]
    time: Option<String>,
    /// The conversation it belongs to
    #[arg(long, value_name = "NAME")]
    session: Option<String>,
    /// Its own name; what has that name already is replaced
    #[arg(long, value_name = "NAME")]
    id: Option<String>,
    /// An entity, `NAME` or `NAME:TYPE` or `NAME:TYPE:DESCRIPTION`; repeatable
    #[arg(long, value_name = "ENTITY")]
    entity: Vec<String>,
    /// A fact, `FROM|RELATION|TO` or `FROM|RELATION|TO|SENTENCE`; repeatable
    #[arg(long, value_name = "FACT")]
    fact: Vec<String>,
    /// A claim, `SUBJECT|TYPE|SENTENCE` or `SUBJECT|TYPE|SENTENCE|OBJECT`; repeatable
    #[arg(long, value_name = "CLAIM")]
    claim: Vec<String>,
    /// How the claims stand
    #[arg(long, value_enum, default_value_t = StatusName::Suspected)]
    status: StatusName,
    #[command(flatten)]
    dates: Dates,
    /// What a contradiction of an exclusive relation does
    #[arg(long, value_enum, default_value_t = PolicyName::Close)]
    on_conflict: PolicyName,
}

/// When facts hold.
#[derive(Debug, clap::Args)]
pub(crate) struct Dates {
    /// When the facts and claims began to hold
    #[arg(long, value_name = "DATE")]
    valid_from: Option<String>,
    /// Until when they hold; `2006` means until 2007
    #[arg(long, value_name = "DATE")]
    valid_to: Option<String>,
    /// The facts' subject has this relation to one thing at a time
    #[arg(long)]
    exclusive: bool,
}

/// How a claim stands, as the user names it.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub(super) enum StatusName {
    /// Established
    True,
    /// Refuted
    False,
    /// Somebody says so
    Suspected,
}

impl From<StatusName> for ClaimStatus {
    fn from(name: StatusName) -> Self {
        match name {
            StatusName::True => Self::True,
            StatusName::False => Self::False,
            StatusName::Suspected => Self::Suspected,
        }
    }
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum PolicyName {
    /// What began earlier ends where the new fact begins
    Close,
    /// The new fact is not stored, and the contradiction is shown
    Ask,
}

#[derive(Debug, clap::Args)]
pub(crate) struct LinkArgs {
    /// Name, alias or public id
    from: String,
    /// How the first is related to the second
    relation: String,
    /// Name, alias or public id
    to: String,
    /// The fact as a sentence
    #[arg(long, value_name = "SENTENCE")]
    fact: Option<String>,
    #[command(flatten)]
    dates: Dates,
}

pub(crate) fn run(args: &Args, settings: &Settings) -> anyhow::Result<Exit> {
    let memories = match &args.file {
        Some(file) => read_memories(file)?,
        None => vec![given(args)?],
    };
    let policy = match args.on_conflict {
        PolicyName::Close => ConflictPolicy::Close,
        PolicyName::Ask => ConflictPolicy::Ask,
    };
    let report = open_or_create(settings)?.remember(&memories, policy)?;
    show(&report, settings)
}

pub(crate) fn link(args: &LinkArgs, settings: &Settings) -> anyhow::Result<Exit> {
    settings.check_store_exists()?;
    let engine = open_or_create(settings)?;
    for name in [&args.from, &args.to] {
        if engine.entity(name)?.is_empty() {
            return Err(Error::NotFound {
                kind: "entity",
                name: name.clone(),
            }
            .into());
        }
    }
    let fact = GivenFact {
        source: args.from.clone(),
        relation: args.relation.clone(),
        target: args.to.clone(),
        fact: args.fact.clone(),
        ..args.dates.fact()
    };
    let memory = Memory {
        relations: vec![fact],
        ..Memory::default()
    };
    show(
        &engine.remember(&[memory], ConflictPolicy::Close)?,
        settings,
    )
}

impl Dates {
    fn fact(&self) -> GivenFact {
        GivenFact {
            valid_from: self.valid_from.clone(),
            valid_to: self.valid_to.clone(),
            exclusive: self.exclusive,
            ..GivenFact::default()
        }
    }
}

fn given(args: &Args) -> Result<Memory, Refusal> {
    let entities = args.entity.iter().map(|written| {
        let mut parts = written.splitn(3, ':').map(|part| part.trim().to_owned());
        GivenEntity {
            name: parts.next().unwrap_or_default(),
            kind: parts.next(),
            description: parts.next(),
            aliases: Vec::new(),
        }
    });
    let relations = args.fact.iter().map(|written| {
        let parts: Vec<&str> = written.splitn(4, '|').map(str::trim).collect();
        let [source, relation, target, sentence @ ..] = parts.as_slice() else {
            let message = format!("{written:?} is no fact; write FROM|RELATION|TO");
            return Err(Refusal::new(Exit::Usage, message));
        };
        Ok(GivenFact {
            source: (*source).to_owned(),
            relation: (*relation).to_owned(),
            target: (*target).to_owned(),
            fact: sentence.first().map(|&sentence| sentence.to_owned()),
            ..args.dates.fact()
        })
    });
    let claims = args.claim.iter().map(|written| {
        let parts: Vec<&str> = written.splitn(4, '|').map(str::trim).collect();
        let [subject, kind, description, object @ ..] = parts.as_slice() else {
            let message = format!("{written:?} is no claim; write SUBJECT|TYPE|SENTENCE");
            return Err(Refusal::new(Exit::Usage, message));
        };
        Ok(GivenClaim {
            subject: (*subject).to_owned(),
            object: object.first().map(|&object| object.to_owned()),
            kind: (*kind).to_owned(),
            status: args.status.into(),
            description: (*description).to_owned(),
            valid_from: args.dates.valid_from.clone(),
            valid_to: args.dates.valid_to.clone(),
        })
    });
    Ok(Memory {
        text: args.text.join(" "),
        speaker: args.speaker.clone(),
        time: args.time.clone(),
        session: args.session.clone(),
        id: args.id.clone(),
        entities: entities.collect(),
        relations: relations.collect::<Result<_, _>>()?,
        claims: claims.collect::<Result<_, _>>()?,
    })
}

fn read_memories(file: &Path) -> anyhow::Result<Vec<Memory>> {
    let mut text = String::new();
    if file == Path::new("-") {
        std::io::stdin().read_to_string(&mut text)?;
    } else {
        text = std::fs::read_to_string(file).map_err(|source| Error::Io {
            path: file.to_owned(),
            source,
        })?;
    }
    let bad = |place: String, error: serde_json::Error| {
        let message = format!("{}{place}: {error}", file.display());
        Refusal::new(Exit::Usage, message)
    };
    if let Ok(value) = serde_json::from_str::<Value>(&text) {
        let list = match value {
            Value::Array(items) => items,
            one => vec![one],
        };
        return (1..)
            .zip(list)
            .map(|(n, item)| {
                serde_json::from_value(item)
                    .map_err(|error| bad(format!(", item {n}"), error).into())
            })
            .collect();
    }
    text.lines()
        .zip(1..)
        .filter(|(line, _)| !line.trim().is_empty())
        .map(|(line, n)| {
            serde_json::from_str(line).map_err(|error| bad(format!(":{n}"), error).into())
        })
        .collect()
}

/// Prints what became of a change.
pub(super) fn show(report: &MemoryReport, settings: &Settings) -> anyhow::Result<Exit> {
    let mut out = Output::new();
    if settings.json {
        out.json(report)?;
    }
    out.flush()?;
    let verbosity = settings.verbosity;
    for item in &report.failed {
        stderr::failed(&format!("item {}", item.line), &item.reason);
    }
    let lines = [
        ("ended, or goes on", &report.ended),
        ("conflict", &report.conflicts),
        ("not taken in again", &report.suppressed),
    ];
    for (what, items) in lines {
        for item in items {
            stderr::note(verbosity, &format!("{what}: {}", plain_line(item)));
        }
    }
    for near in &report.near {
        let what = match near.by {
            NearBy::Name => "spelled almost alike",
            NearBy::Text => "nearly the same words",
            NearBy::Vector => "nearly the same meaning",
        };
        let (new, known) = (plain_line(&near.new), plain_line(&near.known));
        let message = format!("{what}: {new} ~ {known} ({})", plain_line(&near.uri));
        stderr::note(verbosity, &message);
    }
    let undo = report.operation.map_or(String::new(), |id| {
        format!("; `malha undo {id}` takes it back")
    });
    let changed = [
        report.claims_added,
        report.claims_retracted,
        report.claims_repeated,
    ];
    let claims = if changed == [0; 3] {
        String::new()
    } else {
        let [added, retracted, repeated] = changed;
        format!("; claims: +{added} −{retracted}, {repeated} known before")
    };
    let message = format!(
        "{}; entities: +{}; relations: +{} −{}, {} known before{claims}{undo}",
        count(report.episodes.len() as u64, "episode", "episodes"),
        report.entities_added,
        report.relations_added,
        report.relations_retracted,
        report.relations_repeated,
    );
    stderr::note(verbosity, &message);
    Ok(if report.failed.is_empty() {
        Exit::Success
    } else {
        Exit::Partial
    })
}
