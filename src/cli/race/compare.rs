//! `cassini race --compare`: the searches of a closed program side by side.

use std::time::Instant;

use serde_json::{Value, json};

use crate::cli::table::{Table, TableFormat};
use crate::concurrency::differ::{self, Outcome, Question, Search};
use crate::concurrency::program::Program;
use crate::concurrency::search::slicing::Round;

/// Runs each search on the same question, and prints what each took. Whether one of them has found a failure.
pub fn compare(program: &Program<'_>, question: Question<'_>) -> anyhow::Result<bool> {
    let mut table = Table::new(["search", "states", "transitions", "seconds", "answer"]);
    let mut failed = false;
    for search in [Search::DepthFirst, Search::Preemptions, Search::Slices] {
        let begun = Instant::now();
        let (outcome, _) = differ::differ(
            program,
            Question {
                search: Some(search),
                ..question
            },
        );
        let seconds = begun.elapsed().as_secs_f64();
        failed |= !outcome.found.is_empty();
        for round in &outcome.rounds {
            table.row([
                Value::from(format!("  {}", name_of(round))),
                Value::from(round.states),
                Value::from(round.transitions),
                Value::Null,
                Value::Null,
            ]);
        }
        table.row([
            Value::from(search.name()),
            Value::from(outcome.explored.states),
            Value::from(outcome.explored.transitions),
            json!((seconds * 1000.0).round() / 1000.0),
            Value::from(answer(&outcome)),
        ]);
    }
    table.print(TableFormat::Text)?;
    Ok(failed)
}

fn name_of(round: &Round) -> String {
    let threads = match round.threads {
        1 => "1 thread".to_owned(),
        threads => format!("{threads} threads"),
    };
    let objects = match &round.objects[..] {
        [] => String::new(),
        objects => format!(", at {}", objects.join(", ")),
    };
    match round.over {
        true => format!("{threads}{objects}, what others write is unknown"),
        false => format!("{threads}{objects}"),
    }
}

fn answer(outcome: &Outcome) -> String {
    match outcome.found.first() {
        Some(found) => found.failure.kind.message(),
        None if outcome.explored.exhausted => "no failure".to_owned(),
        None => "not ended".to_owned(),
    }
}
