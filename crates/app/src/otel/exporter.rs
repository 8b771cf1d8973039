//! Sends spans in the background, many at a time.

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use malha_providers::http::{Call, Http};

use super::encoding::{Span, request};
use crate::config::Collector;

/// Spans that wait at most; more are lost.
const WAITING: usize = 8192;
/// Spans of one request at most.
const BATCH: usize = 512;
/// How long a span waits for others.
const PAUSE: Duration = Duration::from_secs(2);

/// A thread that sends spans; dropped, it sends what is left.
pub(super) struct Exporter {
    sender: Option<SyncSender<Span>>,
    thread: Option<JoinHandle<()>>,
    stop: SyncSender<()>,
}

impl Exporter {
    pub(super) fn start(collector: Collector) -> Self {
        let (sender, spans) = sync_channel(WAITING);
        let (stop, stopped) = sync_channel(1);
        let thread = std::thread::spawn(move || run(&collector, &spans, &stopped));
        Self {
            sender: Some(sender),
            thread: Some(thread),
            stop,
        }
    }

    pub(super) fn sender(&self) -> SyncSender<Span> {
        self.sender.clone().expect("only dropping takes it")
    }
}

impl Drop for Exporter {
    fn drop(&mut self) {
        // The subscriber holds a sender for as long as the process lives: the thread has to be told.
        let _ = self.stop.try_send(());
        self.sender = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn run(collector: &Collector, spans: &Receiver<Span>, stopped: &Receiver<()>) {
    let Ok(http) = Http::new(None) else {
        return;
    };
    let mut batch = Vec::new();
    let mut since = Instant::now();
    loop {
        let is_over = stopped.try_recv().is_ok();
        if is_over {
            batch.extend(spans.try_iter());
        } else {
            // Short, so that the end of the program is not waited for.
            match spans.recv_timeout(Duration::from_millis(20)) {
                Ok(span) => batch.push(span),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    send_all(&http, collector, &mut batch);
                    return;
                }
            }
        }
        if is_over || batch.len() >= BATCH || since.elapsed() >= PAUSE {
            send_all(&http, collector, &mut batch);
            since = Instant::now();
        }
        if is_over {
            return;
        }
    }
}

fn send_all(http: &Http, collector: &Collector, batch: &mut Vec<Span>) {
    let headers: Vec<(&str, &str)> = collector
        .headers
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    let call = Call {
        who: "the collector of spans",
        timeout: collector.timeout,
        secrets: &[],
    };
    for spans in batch.chunks(BATCH) {
        let body = request(&collector.service, spans);
        // Whoever watches the collector sees that they are missing; a run does not fail for it.
        if http.post(&collector.url, &headers, &body, &call).is_err() {
            break;
        }
    }
    batch.clear();
}
