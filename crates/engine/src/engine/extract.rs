//! Extraction by a chat model: asking, storing, reviewing what was left out.

use serde_json::json;

use super::Engine;
use crate::extraction::{
    ExtractionSettings, Passage, Prompts, Schema, infer_request, read_schema_reply,
};
use crate::language_model::ChatModel;
use crate::pipeline::extract::{self, Plan, Read};
use crate::pipeline::{self, Job};
use crate::replies::{CachedModel, ReplyCache};
use crate::storage;
use crate::types::{
    ExtractEstimate, ExtractReport, IngestReport, Progress, QuarantineItem, RunRecord, SourceSpec,
    SpendingLimit, Stage,
};
use crate::{Error, Result};

/// What an extraction run asks, and how much it may spend.
#[derive(Clone, Copy)]
pub struct ExtractionRun<'a> {
    pub model: &'a dyn ChatModel,
    pub settings: &'a ExtractionSettings,
    pub limit: SpendingLimit,
    /// Ask this model about passages, too, for which another one's reply is stored.
    pub anew: bool,
}

impl<'a> ExtractionRun<'a> {
    /// A run without a limit, that asks about what no reply is stored for.
    pub fn new(model: &'a dyn ChatModel, settings: &'a ExtractionSettings) -> Self {
        Self {
            model,
            settings,
            limit: SpendingLimit::default(),
            anew: false,
        }
    }
}

impl Engine {
    /// [`Engine::index`], then [`Engine::extract`]: facts of a changed passage stay until its new ones are
    /// there.
    pub fn index_and_extract(
        &self,
        sources: &[SourceSpec],
        run: &ExtractionRun<'_>,
        progress: &dyn Progress,
    ) -> Result<(IngestReport, ExtractReport)> {
        let indexed = self.run(progress, |job| pipeline::index_sources(job, sources))?;
        Ok((indexed, self.extract(run, progress)?))
    }

    /// Asks the model about every passage that has no usable reply, and stores what all replies say.
    /// Passages whose reply cannot be used are in the report, and asked about again by the next run. An
    /// interruption or a limit reached is in the report too: what was paid for is stored.
    ///
    /// # Errors
    /// [`Error::Usage`]: the schema or a prompt cannot be used. [`Error::Model`]: the model gives no answer to
    /// anything; where it stopped answering in mid-run, the report says so.
    pub fn extract(
        &self,
        run: &ExtractionRun<'_>,
        progress: &dyn Progress,
    ) -> Result<ExtractReport> {
        let span = tracing::info_span!(
            "extraction",
            model = run.model.name(),
            passages = tracing::field::Empty,
            known = tracing::field::Empty,
            extracted = tracing::field::Empty,
            failed = tracing::field::Empty,
            entities = tracing::field::Empty,
            relations = tracing::field::Empty,
            calls = tracing::field::Empty,
            input_tokens = tracing::field::Empty,
            output_tokens = tracing::field::Empty,
            cost = tracing::field::Empty,
        );
        let _entered = span.enter();
        let (report, stopped) = self.logged("extract", || {
            let (report, stopped) = self.extract_and_store(run, progress)?;
            record(&span, &report);
            Ok(((report.clone(), stopped), report))
        })?;
        match stopped {
            Some(Error::Interrupted) => Err(Error::Interrupted),
            // Nothing came of the run, and the model says why.
            Some(error @ Error::Model(_)) if report.extracted == 0 => Err(error),
            _ => Ok(report),
        }
    }

    /// What an extraction did, and what ended it early.
    fn extract_and_store(
        &self,
        run: &ExtractionRun<'_>,
        progress: &dyn Progress,
    ) -> Result<(ExtractReport, Option<Error>)> {
        let started = self.clock.now();
        let replies = self.replies(run.limit);
        let mut report = ExtractReport::default();
        let plan = self.plan(run.model.name(), run.settings)?;
        let mut read =
            tracing::info_span!("read replies").in_scope(|| Read::new(&plan, &replies))?;
        let wanted = read.wanted(&plan, &replies, run.anew)?;
        report.known = plan.items.len() - wanted.len();
        let mut called = if wanted.is_empty() {
            extract::Called::default()
        } else {
            self.with_job(progress, |job| extract::note_version(job, &plan))?;
            tracing::info_span!("ask", passages = wanted.len())
                .in_scope(|| extract::call_all(&plan, &wanted, run.model, &replies, progress))?
        };
        read.refresh(&plan, &replies, &wanted)?;
        let mut warnings = Vec::new();
        let stopped = match called.stopped.take() {
            None => tracing::info_span!("ask about names").in_scope(|| {
                self.ask_opinions(run, (&plan, &read), &replies, progress, &mut warnings)
            }),
            Some(stopped) => Err(stopped),
        };
        let stopped = match stopped {
            Ok(()) => None,
            Err(error @ (Error::BudgetReached { .. } | Error::Interrupted | Error::Model(_))) => {
                Some(error)
            }
            Err(error) => return Err(error),
        };
        replies.flush()?;
        self.store_rows(
            &replies,
            (run.model.name(), run.settings),
            Some((plan, read)),
            Some(&called),
            progress,
            &mut report,
        )?;
        report.warnings.append(&mut warnings);
        report.extracted = called.extracted;
        report.repaired = called.repaired;
        report.left = called.left;
        report.spent = replies.spent();
        report.steps = replies.spent_by_step();
        report.elapsed_ms = (self.clock.now().0 - started.0).max(0) as u64;
        report.budget_reached = matches!(stopped, Some(Error::BudgetReached { .. }));
        report.stopped = stopped.as_ref().map(ToString::to_string);
        Ok((report, stopped))
    }

    /// Asks about names that may be one thing, and for summaries, where the settings say so.
    fn ask_opinions(
        &self,
        run: &ExtractionRun<'_>,
        (plan, read): (&Plan, &Read),
        replies: &ReplyCache<'_>,
        progress: &dyn Progress,
        warnings: &mut Vec<String>,
    ) -> Result<()> {
        let settings = run.settings;
        let namespace = |store: &storage::Store| -> Result<i64> {
            Ok(store.namespace(&self.namespace)?.map_or(0, |id| id.0))
        };
        if settings.judge {
            let prompts = Prompts::new(&settings.prompts).map_err(Error::Usage)?;
            let pairs = {
                let store = self.store();
                extract::open_pairs(store.connection(), namespace(&store)?, plan, read)?
            };
            let verdicts =
                extract::judge(&pairs, &prompts, run.model, replies, progress, warnings)?;
            let store = self.store();
            let lease = store.write_lease("malha index --extract", self.config.lease_wait)?;
            let transaction = lease.transaction()?;
            let id = transaction.namespace(&self.namespace)?.0;
            for (row, is_same) in &verdicts {
                let now = self.clock.now();
                storage::judge_merge(transaction.connection(), id, row, *is_same, now)?;
            }
            transaction.commit_bookkeeping()?;
        }
        if settings.summarize {
            let long = {
                let store = self.store();
                extract::long_descriptions(store.connection(), namespace(&store)?, plan, read)?
            };
            extract::summarize(&long, run.model, replies, progress, warnings)?;
        }
        Ok(())
    }

    /// What [`Engine::extract`] would take. With a `sample`, so many passages are asked about first, spread evenly over
    /// those that no reply is stored for, so that lengths of replies are known; they are part of the work, stored and
    /// paid for once. Without one, nothing is sent.
    ///
    /// # Errors
    /// [`Error::Usage`]: the schema or a prompt cannot be used. What ends a sample early: [`Error::Model`], an
    /// interruption, [`Error::BudgetReached`].
    pub fn estimate_extraction(
        &self,
        run: &ExtractionRun<'_>,
        sample: usize,
        progress: &dyn Progress,
    ) -> Result<ExtractEstimate> {
        let replies = self.replies(run.limit);
        let plan = self.plan(run.model.name(), run.settings)?;
        let mut read = Read::new(&plan, &replies)?;
        let mut wanted = read.wanted(&plan, &replies, run.anew)?;
        let chosen = Plan::sample(&wanted, sample);
        let sampled = !chosen.is_empty();
        let mut estimated = || {
            if sampled {
                self.with_job(progress, |job| extract::note_version(job, &plan))?;
                let called = extract::call_all(&plan, &chosen, run.model, &replies, progress)?;
                if let Some(stopped) = called.stopped {
                    return Err(stopped);
                }
                read.refresh(&plan, &replies, &chosen)?;
                wanted = read.wanted(&plan, &replies, run.anew)?;
            }
            let estimate = self.estimate(run, &plan, &wanted, &replies)?;
            Ok((estimate.clone(), estimate))
        };
        if sampled {
            self.logged("estimate", estimated)
        } else {
            estimated().map(|(estimate, _)| estimate)
        }
    }

    fn estimate(
        &self,
        run: &ExtractionRun<'_>,
        plan: &Plan,
        wanted: &[usize],
        replies: &ReplyCache<'_>,
    ) -> Result<ExtractEstimate> {
        let seconds = {
            let store = self.store();
            match store.namespace(&self.namespace)? {
                Some(id) => storage::seconds_per_call(
                    store.connection(),
                    id.0,
                    extract::STEP,
                    run.model.name(),
                )?,
                None => None,
            }
        };
        let mut estimate = extract::estimate(plan, wanted, replies, run.model, seconds)?;
        estimate.sampled = replies.spent();
        Ok(estimate)
    }

    /// Lets the model propose a schema from `sample` passages, spread evenly over all.
    ///
    /// # Errors
    /// [`Error::Usage`]: there is no passage, or no schema in the reply, which is then asked for anew.
    pub fn infer_schema(
        &self,
        model: &dyn ChatModel,
        settings: &ExtractionSettings,
        sample: usize,
        limit: SpendingLimit,
    ) -> Result<Schema> {
        let plan = self.plan(model.name(), settings)?;
        let step = plan.items.len().div_ceil(sample.max(1)).max(1);
        let passages: Vec<&Passage> = plan
            .items
            .iter()
            .step_by(step)
            .map(|item| &item.passage)
            .collect();
        if passages.is_empty() {
            return Err(Error::Usage(
                "nothing is indexed to infer a schema from".to_owned(),
            ));
        }
        let prompts = Prompts::new(&settings.prompts).map_err(Error::Usage)?;
        let language = settings.language.as_deref();
        let request = infer_request(&prompts, language, &passages, settings.max_output_tokens);
        let replies = self.replies(limit);
        self.logged("schema", || {
            let asked = CachedModel::new(model, &replies, "schema");
            let reply = asked.ask(&request, None, &mut |_| {})?;
            replies.flush()?;
            let schema = read_schema_reply(&reply.text).or_else(|reason| {
                replies.reject(reply.id, &reason)?;
                Err(Error::Usage(format!(
                    "{}: {reason}; try again or another model",
                    reply.model
                )))
            })?;
            let report = json!({
                "passages": passages.len(),
                "entity_types": schema.entity.len(),
                "relations": schema.relation.len(),
                "spent": replies.spent(),
            });
            Ok((schema, report))
        })
    }

    /// What extraction put aside: passages whose reply could not be used, and items that were not stored.
    pub fn quarantine(&self) -> Result<Vec<QuarantineItem>> {
        let store = self.store();
        match store.namespace(&self.namespace)? {
            Some(id) => storage::quarantine(store.connection(), id.0),
            None => Ok(Vec::new()),
        }
    }

    /// Says whether the user wants no more of something put aside. A passage that was dropped is not asked
    /// about again until it is wanted again; an item of a reply comes back with another reply only.
    ///
    /// # Errors
    /// [`Error::NotFound`]: there is no item of this number. [`Error::Usage`]: an item that is no passage is wanted
    /// again, and was not dropped.
    pub fn set_dropped(&self, id: i64, dropped: bool) -> Result<()> {
        let store = self.store();
        let lease = store.write_lease("malha quarantine", self.config.lease_wait)?;
        let transaction = lease.transaction()?;
        let namespace = transaction.namespace(&self.namespace)?;
        let connection = transaction.connection();
        let before = storage::set_dropped(connection, namespace.0, id, dropped)?;
        let (kind, was_dropped) = before.ok_or_else(|| Error::NotFound {
            kind: "quarantined item",
            name: id.to_string(),
        })?;
        if !dropped && !was_dropped && kind != storage::PASSAGE {
            return Err(Error::Usage(format!(
                "{id} is no passage but an item of a reply ({kind}): the reply is stored, and only another prompt, \
                 schema or text asks anew"
            )));
        }
        transaction.commit_bookkeeping()
    }

    /// The newest runs, newest first.
    pub fn runs(&self, limit: usize) -> Result<Vec<RunRecord>> {
        let store = self.store();
        match store.namespace(&self.namespace)? {
            Some(id) => storage::runs(store.connection(), id.0, limit),
            None => Ok(Vec::new()),
        }
    }

    /// Brings the rows of extraction in line with documents that changed: what a changed passage stated is
    /// taken back until it is asked about again. Does nothing where nothing was extracted.
    pub(super) fn follow_documents(&self, progress: &dyn Progress) -> Result<ExtractReport> {
        let last = {
            let store = self.store();
            match store.namespace(&self.namespace)? {
                None => None,
                Some(id) => match extract::last_version(store.connection(), id.0)? {
                    Some(version) => Some(version),
                    // Nothing but what other programs found.
                    None => storage::has_imported(store.connection(), id.0)?.then(Default::default),
                },
            }
        };
        let Some((model, settings)) = last else {
            return Ok(ExtractReport::default());
        };
        let replies = self.replies(SpendingLimit::default());
        let mut report = ExtractReport::default();
        let version = (model.as_str(), &settings);
        self.store_rows(&replies, version, None, None, progress, &mut report)?;
        Ok(report)
    }

    fn store_rows(
        &self,
        replies: &ReplyCache<'_>,
        (model, settings): (&str, &ExtractionSettings),
        mut ready: Option<(Plan, Read)>,
        called: Option<&extract::Called>,
        progress: &dyn Progress,
        report: &mut ExtractReport,
    ) -> Result<()> {
        // Another process may change documents between reading replies and writing rows.
        loop {
            let (plan, mut read) = if let Some(ready) = ready.take() {
                ready
            } else {
                let plan = self.plan(model, settings)?;
                let read = Read::new(&plan, replies)?;
                (plan, read)
            };
            if settings.summarize {
                let long = {
                    let store = self.store();
                    let namespace = store.namespace(&self.namespace)?.map_or(0, |id| id.0);
                    extract::long_descriptions(store.connection(), namespace, &plan, &read)?
                };
                read.take_summaries(&plan, long, replies)?;
            }
            let mut found = ExtractReport::default();
            let stored = tracing::info_span!("store facts").in_scope(|| {
                self.with_job(progress, |job| {
                    extract::store_rows(job, &plan, read, called, &mut found)
                })
            })?;
            if let Some(graph) = stored {
                found.known = report.known;
                *report = found;
                progress.stage(Stage::Snapshot, 0);
                return self.follow_graph(&self.store(), graph);
            }
        }
    }

    fn plan(&self, model: &str, settings: &ExtractionSettings) -> Result<Plan> {
        let store = self.store();
        let _state = store.read()?;
        let namespace = store
            .namespace(&self.namespace)?
            .map_or(0, |namespace| namespace.0);
        let generation = store.generation()?;
        Plan::load(store.connection(), namespace, generation, model, settings)
    }

    fn with_job<T>(
        &self,
        progress: &dyn Progress,
        work: impl FnOnce(&Job<'_>) -> Result<T>,
    ) -> Result<T> {
        let store = self.store();
        work(&Job {
            store: &store,
            config: &self.config,
            namespace: &self.namespace,
            clock: &*self.clock,
            progress,
        })
    }
}

/// What a run did, on its span.
fn record(span: &tracing::Span, report: &ExtractReport) {
    let spent = &report.spent;
    span.record("passages", report.passages);
    span.record("known", report.known);
    span.record("extracted", report.extracted);
    span.record("failed", report.failed.len());
    span.record("entities", report.entities);
    span.record("relations", report.relations);
    span.record("calls", spent.calls);
    span.record("input_tokens", spent.input_tokens);
    span.record("output_tokens", spent.output_tokens);
    span.record("cost", spent.cost);
}
