//! A source file, with numbers to link to.
//!
//! In: a file's name and a line. Out: the lines around it, or the whole file if it is not too long. Only files that the database
//! speaks of are shown: the server is no way to read others.

use std::sync::Arc;

use axum::extract::{Query, State};
use axum::http::HeaderMap;
use axum::response::Response;
use maud::html;
use serde::Deserialize;

use super::frame::{self, Tab};
use super::{App, Failure, Visit, answer};
use crate::source::{Sources, inert};

/// Lines shown at most.
const LINES: usize = 6000;
/// Characters of a line.
const LENGTH: usize = 400;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Asked {
    file: String,
    line: String,
}

pub(super) async fn page(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    Query(asked): Query<Asked>,
) -> Response {
    answer(app, headers, move |visit| source(visit, &asked)).await
}

fn source(visit: &Visit<'_>, asked: &Asked) -> Result<Response, Failure> {
    let session = &visit.session;
    let unknown =
        || Failure::NotFound("The last check has read no such file, or it is gone.".to_owned());
    if !session.reader.has_file(&asked.file)? {
        return Err(unknown());
    }
    let mut sources = Sources::default();
    let lines = sources
        .lines(&session.root, &asked.file)
        .ok_or_else(unknown)?;
    let wanted = asked.line.parse::<usize>().unwrap_or(1);
    // Of a long file the part around the line.
    let first = if lines.len() > LINES {
        wanted.saturating_sub(LINES / 2).min(lines.len() - LINES)
    } else {
        0
    };
    let shown = lines.iter().enumerate().skip(first).take(LINES);
    let body = html! {
        h1.code { (inert(&asked.file)) }
        @if lines.len() > LINES { p.faint { "lines " (first + 1) " to " (first + LINES) " of " (lines.len()) } }
        div.source {
            @for (index, text) in shown {
                @let number = index + 1;
                @let text: String = text.chars().take(LENGTH).collect();
                div.line.plain.reported[number == wanted] id=(format!("L{number}")) {
                    span.number { (number) }
                    code { (inert(&text)) }
                }
            }
        }
    };
    Ok(frame::page(visit, Tab::None, &asked.file, &body))
}
