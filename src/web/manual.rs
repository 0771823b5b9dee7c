//! The manual pages of rules and of explanations.

use std::sync::Arc;

use axum::extract::{Query, State};
use axum::http::HeaderMap;
use axum::response::Response;
use maud::html;
use serde::Deserialize;

use super::frame::{self, Tab, address};
use super::{App, Failure, answer};
use crate::finding::ExplanationKind;
use crate::source::inert;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Asked {
    id: String,
    kind: String,
}

pub(super) async fn rule(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    Query(asked): Query<Asked>,
) -> Response {
    answer(app, headers, move |visit| {
        let Some(rule) = visit.session.shared.rules.rule(&asked.id) else {
            // A checker of the user's own defines it: its file is not known here.
            let what = format!(
                "No checker that comes with the program has a rule `{}`.",
                asked.id
            );
            return Err(Failure::NotFound(what));
        };
        let body = html! {
            h1 { (inert(&rule.id)) }
            pre.manual { (rule.explanation.trim()) }
            p { a href=(address("/", &[("rule", &rule.id)])) { "Findings of this rule" } }
        };
        Ok(frame::page(visit, Tab::None, &asked.id, &body))
    })
    .await
}

pub(super) async fn explanation(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    Query(asked): Query<Asked>,
) -> Response {
    answer(app, headers, move |visit| {
        let mut kinds = ExplanationKind::ALL.into_iter();
        let Some(kind) = kinds.find(|kind| kind.name() == asked.kind) else {
            let what = format!("There is no explanation of the kind `{}`.", asked.kind);
            return Err(Failure::NotFound(what));
        };
        let body = html! { h1 { "Explanation" } pre.manual { (kind.manual()) } };
        Ok(frame::page(visit, Tab::None, &asked.kind, &body))
    })
    .await
}
