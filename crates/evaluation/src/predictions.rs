use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use serde::Serialize;

use crate::comparison::ModeRun;
use crate::dataset::Question;
use crate::{Error, Result};

/// A row of a prediction file.
#[derive(Serialize)]
struct Prediction<'a> {
    qid: &'a str,
    ranked: &'a [String],
}

/// Writes one mode's rankings as JSONL rows `{"qid", "ranked"}`, in the questions' order: what the scoring script
/// beside the data sets reads.
pub fn write_predictions(path: &Path, questions: &[Question], run: &ModeRun) -> Result<()> {
    let mut out = BufWriter::new(File::create(path).map_err(Error::io(path))?);
    for (question, ranked) in questions.iter().zip(&run.ranked) {
        let row = Prediction {
            qid: &question.qid,
            ranked,
        };
        serde_json::to_writer(&mut out, &row)
            .map_err(std::io::Error::from)
            .and_then(|()| out.write_all(b"\n"))
            .map_err(Error::io(path))?;
    }
    out.flush().map_err(Error::io(path))
}
