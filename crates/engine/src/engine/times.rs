//! The same store at another moment: timelines, and what differs between two moments.

use std::collections::{BTreeMap, BTreeSet};

use super::Engine;
use super::explore::Explorer;
use crate::graph::{Edge, EdgeFilter, Moment};
use crate::sources::parse_date;
use crate::types::{
    Direction, GraphDiff, Standing, Timeline, TimelineEntry, TimelineRequest, Times, Timestamp,
};
use crate::{Error, Result};

impl Engine {
    /// The same store and caches, with every question looking at this moment. Cheap.
    #[must_use]
    pub fn at(&self, times: Times) -> Self {
        Self {
            times,
            ..self.same()
        }
    }

    /// The relations of an entity through time.
    ///
    /// # Errors
    /// [`Error::NotFound`] when the entity or a relation type is unknown.
    pub fn timeline(&self, request: &TimelineRequest) -> Result<Timeline> {
        self.explore(|explorer| explorer.timeline(request))
    }

    /// What differs between two moments, by what is known now or at this engine's [`Times::known_at`];
    /// with `knowledge`, between what was known at the two moments of what holds now.
    pub fn diff(
        &self,
        from: Timestamp,
        to: Timestamp,
        knowledge: bool,
        limit: usize,
    ) -> Result<GraphDiff> {
        let here = self.moment();
        let at = |time: Timestamp| {
            if knowledge {
                Moment {
                    known: time,
                    ..here
                }
            } else {
                Moment {
                    valid: time,
                    ..here
                }
            }
        };
        self.explore(|explorer| explorer.diff(at(from), at(to), limit))
    }
}

/// The moments that `--as-of` and `--known-at` name: a date stands for its first instant, a time without an
/// offset is UTC.
///
/// # Errors
/// [`Error::Usage`] for what is no date.
pub fn parse_times(as_of: Option<&str>, known_at: Option<&str>) -> Result<Times> {
    Ok(Times {
        as_of: as_of.map(parse_moment).transpose()?,
        known_at: known_at.map(parse_moment).transpose()?,
    })
}

/// The first instant of a date as people write it.
///
/// # Errors
/// [`Error::Usage`] for what is no date.
pub fn parse_moment(text: &str) -> Result<Timestamp> {
    parse_date(text).map(|date| date.start).ok_or_else(|| {
        Error::Usage(format!(
            "{text:?} is no date; write 2024-05-01, 2024-05-01T12:30:00-03:00, 2024-05 or 2024"
        ))
    })
}

impl Explorer<'_> {
    pub(super) fn timeline(&self, request: &TimelineRequest) -> Result<Timeline> {
        let found = self.known(&request.entity)?;
        let types = self.type_filter(&request.relation_types)?;
        let everything =
            EdgeFilter::of_all_times(&self.graph.relations, Direction::Both, types.as_deref());
        let mut edges: BTreeMap<_, Edge> = BTreeMap::new();
        for &entity in &found {
            let Some(index) = self.graph.entities.get(entity) else {
                continue;
            };
            self.graph
                .relations
                .each_neighbor(index, &everything, |_, position| {
                    let edge = self.graph.relations.edge(position);
                    let window = edge.window;
                    if window.recorded_at <= self.at.known.0
                        && (request.history || self.at.known.0 < window.retracted_at)
                    {
                        edges.insert((window.valid_from, window.valid_to, edge.relation), edge);
                    }
                });
        }
        let cut = edges.len() > request.limit;
        let shown = edges.into_values().collect::<Vec<_>>();
        let shown = &shown[shown.len().saturating_sub(request.limit)..];
        Ok(Timeline {
            entities: found
                .iter()
                .map(|&id| self.view(id))
                .collect::<Result<_>>()?,
            entries: shown
                .iter()
                .map(|edge| {
                    Ok(TimelineEntry {
                        standing: self.standing(edge),
                        relation: self.relation(edge)?,
                    })
                })
                .collect::<Result<_>>()?,
            claims: self.claim_views(&found, request.history)?,
            cut,
        })
    }

    fn standing(&self, edge: &Edge) -> Standing {
        let (window, at) = (edge.window, self.at);
        if at.known.0 >= window.retracted_at {
            Standing::Retracted
        } else if at.valid.0 < window.valid_from {
            Standing::Future
        } else if at.valid.0 >= window.valid_to {
            Standing::Past
        } else {
            Standing::Current
        }
    }

    fn diff(&self, from: Moment, to: Moment, limit: usize) -> Result<GraphDiff> {
        let relations = &self.graph.relations;
        // Versions of one fact that differ in its end alone are one relation here.
        let visible = |at: Moment| -> BTreeMap<(u32, u32, u32, i64), Edge> {
            (0..relations.len())
                .filter(|&position| relations.is_visible(position, at))
                .map(|position| relations.edge(position))
                .map(|edge| {
                    let key = (
                        edge.source,
                        edge.target,
                        edge.relation_type,
                        edge.window.valid_from,
                    );
                    (key, edge)
                })
                .collect()
        };
        let (before, after) = (visible(from), visible(to));
        let keys = |edges: &BTreeMap<_, Edge>| edges.keys().copied().collect::<BTreeSet<_>>();
        let (old, new) = (keys(&before), keys(&after));
        let views = |missing: Vec<_>, edges: &BTreeMap<_, Edge>| {
            missing
                .iter()
                .take(limit)
                .map(|key| self.relation(&edges[key]))
                .collect::<Result<Vec<_>>>()
        };
        let claims = self.claims_between(from, to)?;
        let began: Vec<_> = new.difference(&old).copied().collect();
        let ended: Vec<_> = old.difference(&new).copied().collect();
        Ok(GraphDiff {
            unchanged: old.intersection(&new).count() + claims.unchanged,
            cut: [
                began.len(),
                ended.len(),
                claims.began.len(),
                claims.ended.len(),
            ]
            .into_iter()
            .any(|found| found > limit),
            claims_began: self.views_of(claims.began, limit)?,
            claims_ended: self.views_of(claims.ended, limit)?,
            began: views(began, &after)?,
            ended: views(ended, &before)?,
        })
    }
}
