//! Search over the names of functions.
//!
//! In: part of a name. Out: the likeliest functions, as JSON for the field that is typed into, or as a page.

use std::sync::Arc;

use axum::extract::{Query, State};
use axum::http::HeaderMap;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use maud::html;
use serde::Deserialize;
use serde_json::json;

use super::frame::{self, Tab, address, function_link, place_link};
use super::{App, Failure, Visit, answer};
use crate::report::place;
use crate::source::inert;

/// Functions offered below the field, and listed on the page.
const OFFERED: usize = 12;
const LISTED: usize = 300;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Asked {
    q: String,
}

pub(super) async fn names(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    Query(asked): Query<Asked>,
) -> Response {
    answer(app, headers, move |visit| {
        let names = visit.session.names()?;
        let (found, count) = names.search(&asked.q, OFFERED);
        let found = found.into_iter().map(|name| {
            json!({
                "name": inert(&name.name),
                "place": inert(&place(&name.file, name.line, 0)),
                "address": address("/function", &[("name", &name.name), ("file", &name.file)]),
            })
        });
        let told = json!({ "count": count, "functions": found.collect::<Vec<_>>() });
        Ok(([(CONTENT_TYPE, "application/json")], told.to_string()).into_response())
    })
    .await
}

pub(super) async fn page(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    Query(asked): Query<Asked>,
) -> Response {
    answer(app, headers, move |visit| list(visit, &asked.q)).await
}

fn list(visit: &Visit<'_>, text: &str) -> Result<Response, Failure> {
    let names = visit.session.names()?;
    let (found, count) = names.search(text, LISTED);
    let body = html! {
        h1 { "Functions" @if !text.is_empty() { " with " span.code { (inert(text)) } " in their names: " (count) } }
        form.filters action="/functions" {
            label { "Name" input name="q" value=(text) placeholder="part of a name"; }
            button { "Search" }
        }
        table { tbody { @for name in &found { tr.item {
            td { (function_link(&name.name, &name.file)) }
            td { (place_link(&name.file, name.line)) }
        } } } }
        @if found.len() < count { p.faint { "and " (count - found.len()) " more" } }
    };
    Ok(frame::page(visit, Tab::Functions, "Functions", &body))
}
