use std::io::{BufWriter, IsTerminal, Stdout, Write};

use anstream::AutoStream;
use serde::Serialize;

use super::plain::plain_json;

/// Buffered stdout. Colours are removed unless it is a terminal. Flush it at the end: an error that
/// only shows then is still an error.
pub(crate) struct Output {
    writer: BufWriter<AutoStream<Stdout>>,
    terminal: bool,
}

impl Output {
    pub(crate) fn new() -> Self {
        let stdout = std::io::stdout();
        Self {
            terminal: stdout.is_terminal(),
            writer: BufWriter::new(AutoStream::auto(stdout)),
        }
    }

    pub(crate) fn is_terminal(&self) -> bool {
        self.terminal
    }

    /// Writes one JSON value and a line break: indented for a reader, one line for a program.
    pub(crate) fn json(&mut self, value: &impl Serialize) -> anyhow::Result<()> {
        let text = if self.terminal {
            serde_json::to_string_pretty(value)?
        } else {
            serde_json::to_string(value)?
        };
        writeln!(self, "{}", plain_json(&text))?;
        Ok(())
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.writer.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.writer.flush()
    }
}
