//! Verdicts from the page.
//!
//! In: a form with the token, a verdict and a note. Out: the verdict in the database, and the way to the next finding.

use std::sync::Arc;

use axum::extract::{Form, Path, Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use serde::Deserialize;

use super::finding::find;
use super::findings::Asked;
use super::{App, Failure, Visit, answer};
use crate::store::StoreError;
use crate::store::verdicts::Verdicts;
use crate::triage::{Judged, Verdict};

/// The longest note, in characters.
const LONGEST: usize = 2000;

/// What the form has.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Told {
    token: String,
    verdict: String,
    note: String,
}

pub(super) async fn give(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    Path(fingerprint): Path<String>,
    Query(asked): Query<Asked>,
    Form(told): Form<Told>,
) -> Response {
    if !app.access.is_token(&told.token) {
        let why = "verdicts are taken only with the token that `cassini serve` has printed\n";
        return (StatusCode::FORBIDDEN, why).into_response();
    }
    answer(app, headers, move |visit| {
        judge(visit, &fingerprint, &asked, &told)
    })
    .await
}

fn judge(
    visit: &Visit<'_>,
    fingerprint: &str,
    asked: &Asked,
    told: &Told,
) -> Result<Response, Failure> {
    let entries = visit.session.entries()?;
    let finding = &find(&entries, fingerprint)?.finding;
    let verdict = Verdict::parse(&told.verdict);
    if verdict.is_none() && told.verdict != "none" {
        let what = format!("`{}` is no verdict", told.verdict);
        return Err(Failure::Refused(StatusCode::BAD_REQUEST, what));
    }
    // The list as it is before the verdict tells what comes next.
    let found = asked.select(visit, &entries)?;
    let mut after = found
        .iter()
        .skip_while(|&&at| entries[at].finding.fingerprint != fingerprint);
    let next = after.nth(1).map(|&at| &entries[at].finding);
    let note = told.note.trim().chars().take(LONGEST).collect();
    let judged = verdict.map(|verdict| Judged {
        note,
        ..Judged::of(finding, verdict)
    });
    keep(visit, fingerprint, judged.as_ref())?;
    let to = match (judged, next) {
        (None, _) => asked.finding(fingerprint),
        (Some(_), Some(next)) => asked.finding(&next.fingerprint),
        (Some(_), None) => asked.address("/"),
    };
    Ok(Redirect::to(&to).into_response())
}

/// Writes a verdict, or takes it back.
fn keep(visit: &Visit<'_>, fingerprint: &str, judged: Option<&Judged>) -> Result<(), Failure> {
    let locked = |error: StoreError| match error {
        StoreError::Locked(_) => {
            let what =
                "A run is writing to the database: give the verdict again when it has ended.";
            Failure::Refused(StatusCode::CONFLICT, what.to_owned())
        }
        error => Failure::Broken(error.into()),
    };
    let mut verdicts = Verdicts::open(&visit.session.folder).map_err(locked)?;
    let kept = match judged {
        Some(judged) => verdicts.put(std::slice::from_ref(judged)),
        None => verdicts.remove(fingerprint).map(|_| ()),
    };
    // Whatever went wrong, the file is closed.
    verdicts.close()?;
    Ok(kept?)
}
