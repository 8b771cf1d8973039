use super::*;

macro_rules! fixture {
    ($name:literal) => {
        include_str!(concat!("../../tests/fixtures/transcripts/", $name))
    };
}

fn read(text: &str) -> (Vec<Turn>, ReadTo) {
    read_from(text, 0, Context::default())
}

fn read_from(text: &str, start: u64, context: Context) -> (Vec<Turn>, ReadTo) {
    let mut turns = Vec::new();
    let input = &text.as_bytes()[start as usize..];
    let read = read_turns(Path::new("t"), input, start, context, |turn| {
        turns.push(turn);
        Ok(())
    });
    (turns, read.unwrap())
}

#[test]
fn every_format_becomes_turns() {
    let (turns, so_far) = read(fixture!("claude_code.jsonl"));
    assert_eq!(so_far.broken, []);
    let questions: Vec<&str> = turns.iter().map(|turn| turn.question.as_str()).collect();
    assert_eq!(questions, ["Why is the index slow?", "E agora?"]);
    let turn = &turns[0];
    assert_eq!(turn.session, "s-1");
    assert_eq!(turn.files, ["/vault/Rivers/Tejo.md"]);
    assert_eq!(turn.tools, ["Read", "Bash", "Grep"]);
    assert_eq!(turn.commands, ["cargo bench"]);
    assert!(turn.answer.starts_with("It read every file."));
    assert_eq!(turn.decisions[0].text, "Decision: read only what changed.");
    assert_eq!(
        turn.asked_at.unwrap().0 + 5_000,
        turn.answered_at.unwrap().0
    );
    assert_eq!(turns[1].files, ["/vault/src/lib.rs"]);
    assert_eq!(turns[1].decisions[0].text, "Optei por um índice só.");

    let (turns, _) = read(fixture!("codex.jsonl"));
    assert_eq!(turns.len(), 1, "{turns:?}");
    assert_eq!(turns[0].session, "s-2");
    assert_eq!(turns[0].files, ["/vault/Lisboa.md", "/vault/New.md"]);
    assert_eq!(turns[0].commands, ["bash -lc git status"]);
    assert_eq!(turns[0].decisions.len(), 1);

    let (turns, _) = read(fixture!("chat.jsonl"));
    assert_eq!(turns.len(), 1);
    assert_eq!(turns[0].files, ["a/test.rs"]);
    assert_eq!(
        turns[0].decisions[0].text,
        "Done: one test instead of three."
    );
}

#[test]
fn every_range_is_that_of_whole_lines() {
    for text in [
        fixture!("claude_code.jsonl"),
        fixture!("codex.jsonl"),
        fixture!("chat.jsonl"),
    ] {
        let (turns, _) = read(text);
        for turn in turns {
            let ranges = turn
                .decisions
                .iter()
                .map(|decision| (decision.start, decision.end));
            for (start, end) in ranges.chain([(turn.start, turn.end)]) {
                let slice = &text[start as usize..end as usize];
                assert!(slice.starts_with('{') && slice.ends_with("}\n"), "{slice}");
            }
        }
    }
}

#[test]
fn reading_on_from_any_byte_gives_the_same_turns() {
    let text = fixture!("claude_code.jsonl");
    let (expected, _) = read(text);
    for cut in 0..text.len() {
        if !text.is_char_boundary(cut) {
            continue;
        }
        // A half line at the end waits for the rest and is no failure.
        let (first, so_far) = read(&text[..cut]);
        assert_eq!(so_far.broken, [], "cut at {cut}");
        let (second, _) = read_from(text, so_far.resume_at, so_far.context);
        // The last turn of the first reading is read again, as it was or longer.
        let mut turns: Vec<Turn> = first
            .into_iter()
            .filter(|turn| turn.start < so_far.resume_at)
            .collect();
        turns.extend(second);
        assert_eq!(turns, expected, "cut at {cut}");
    }
}

#[test]
fn a_broken_line_costs_only_itself() {
    let text = fixture!("claude_code.jsonl");
    let (before, after) = text.split_at(text.find("{\"parentUuid\": null").unwrap());
    let broken = format!("{before}{{\"half\": \n\n[1]\n{after}");
    let (turns, so_far) = read(&broken);
    assert_eq!(turns.len(), 2);
    let offsets: Vec<u64> = so_far.broken.iter().map(|(at, _)| *at).collect();
    let at = before.len() as u64;
    assert_eq!(offsets, [at, at + 11], "{:?}", so_far.broken);
}
