//! A shortest chain of calls from one function to another, as a picture.

use std::sync::Arc;

use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use maud::html;
use serde::Deserialize;

use super::frame::{self, Tab, address, function_link, lock_link, place_link};
use super::picture::{Arrow, Box, Picture};
use super::{App, Failure, Visit, answer};
use crate::query::calls::{self, Node};
use crate::report::place;

/// Boxes side by side; a longer chain goes on in the list alone.
const DRAWN: usize = 12;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Asked {
    from: String,
    to: String,
}

pub(super) async fn page(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    Query(asked): Query<Asked>,
) -> Response {
    answer(app, headers, move |visit| chain(visit, &asked)).await
}

fn chain(visit: &Visit<'_>, asked: &Asked) -> Result<Response, Failure> {
    let session = &visit.session;
    let ends = (asked.from.trim(), asked.to.trim());
    let chain = calls::path(&session.reader, &session.places, ends)
        .map_err(|error| Failure::Refused(StatusCode::NOT_FOUND, format!("{error:#}")))?;
    let body = html! {
        h1 { "From " span.code { (crate::source::inert(ends.0)) } " to " span.code { (crate::source::inert(ends.1)) } }
        (picture(&chain).draw())
        ol { @for node in &chain { li {
            @match &node.row {
                Some(row) => { (function_link(&row.name.name, &row.file)) " " (place_link(&row.file, row.line)) }
                None => (function_link(&node.name.name, "")),
            }
            @if !node.held.is_empty() { ", called holding " @for lock in &node.held { (lock_link(lock)) " " } }
        } } }
    };
    Ok(frame::page(visit, Tab::Functions, "Calls", &body))
}

fn picture(chain: &[Node]) -> Picture {
    let mut picture = Picture::default();
    let mut before = None;
    for (column, node) in chain.iter().take(DRAWN).enumerate() {
        let file = node.row.as_ref().map_or("", |row| &row.file);
        let one = Box {
            title: node.name.name.clone(),
            text: node
                .row
                .as_ref()
                .map_or_else(String::new, |row| place(&row.file, row.line, 0)),
            link: address("/function", &[("name", &node.name.name), ("file", file)]),
            strong: column == 0 || column + 1 == chain.len(),
        };
        let to = picture.add(column, one);
        if let Some(from) = before.replace(to) {
            picture.arrow(Arrow {
                from,
                to,
                text: node.held.join(", "),
            });
        }
    }
    picture
}
