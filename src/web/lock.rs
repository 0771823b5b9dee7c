//! Locks: the list of all classes, and for each who takes, releases, needs and orders it.
//!
//! In: a class's name. Out: its page, with a picture of which locks are held when it is taken and which are taken while it is held.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::{Query, State};
use axum::http::HeaderMap;
use axum::response::Response;
use maud::{Markup, html};
use serde::Deserialize;

use super::frame::{self, Tab, address, function_link, lock_link, place_link};
use super::picture::{Arrow, Box, Picture};
use super::{App, Failure, Visit, answer};
use crate::query::locks::{self, Doing};
use crate::source::inert;

/// Functions listed for each thing that is done with a lock.
const LISTED: usize = 200;
/// Locks on each side of the picture.
const DRAWN: usize = 10;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Asked {
    name: String,
}

pub(super) async fn page(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    Query(asked): Query<Asked>,
) -> Response {
    answer(app, headers, move |visit| lock(visit, &asked.name)).await
}

fn lock(visit: &Visit<'_>, name: &str) -> Result<Response, Failure> {
    let uses = locks::of_class(&visit.session.reader, name)?;
    let (orders, doings): (Vec<&Doing>, Vec<&Doing>) =
        uses.iter().partition(|doing| doing.outer.is_some());
    if orders.is_empty() && doings.is_empty() {
        let what =
            format!("The last check saw no lock `{name}` that functions share with their callers.");
        return Err(Failure::NotFound(what));
    }
    let mut by_act: BTreeMap<_, Vec<&Doing>> = BTreeMap::new();
    for doing in doings {
        by_act.entry(doing.role.act).or_default().push(doing);
    }
    let body = html! {
        h1 { "Lock " span.code { (inert(name)) } }
        (order(name, &orders))
        @for (act, doings) in &by_act {
            section {
                h2 { (act.name()) " " span.faint { (doings.len()) } }
                (table(doings))
            }
        }
        @if !orders.is_empty() {
            section { h2 { "Order " span.faint { (orders.len()) } } (order_table(&orders)) }
        }
    };
    Ok(frame::page(visit, Tab::Locks, name, &body))
}

fn table(doings: &[&Doing]) -> Markup {
    html! {
        table { tbody { @for doing in doings.iter().take(LISTED) { tr.item {
            td { (function_link(&doing.function.name, &doing.function.file)) }
            td.code { (inert(&doing.role.object)) }
            td.faint { (inert(&doing.role.machine)) }
            td { (place_link(&doing.function.file, doing.function.line)) }
        } } } }
        @if doings.len() > LISTED { p.faint { "and " (doings.len() - LISTED) " more" } }
    }
}

fn order_table(orders: &[&Doing]) -> Markup {
    html! {
        table {
            thead { tr { th { "While holding" } th { "is taken" } th { "in" } th {} } }
            tbody { @for doing in orders.iter().take(LISTED) { tr.item {
                td { (lock_link(doing.outer.as_deref().unwrap_or_default())) }
                td { (lock_link(&doing.role.class)) }
                td { (function_link(&doing.function.name, &doing.function.file)) }
                td { (place_link(&doing.function.file, doing.function.line)) }
            } } }
        }
        @if orders.len() > LISTED { p.faint { "and " (orders.len() - LISTED) " more" } }
    }
}

/// What is held when the lock is taken, the lock, and what is taken while it is held.
fn order(name: &str, orders: &[&Doing]) -> Markup {
    let mut outer: BTreeMap<&str, usize> = BTreeMap::new();
    let mut inner: BTreeMap<&str, usize> = BTreeMap::new();
    for doing in orders {
        let held = doing.outer.as_deref().unwrap_or_default();
        if doing.role.class == name {
            *outer.entry(held).or_default() += 1;
        } else if held == name {
            *inner.entry(&doing.role.class).or_default() += 1;
        }
    }
    let most = |counts: BTreeMap<&str, usize>| {
        let mut counts: Vec<(String, usize)> = counts
            .into_iter()
            .map(|(name, count)| (name.to_owned(), count))
            .collect();
        counts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        counts.truncate(DRAWN);
        counts
    };
    let boxed = |class: &str, strong| Box {
        title: class.to_owned(),
        text: String::new(),
        link: address("/lock", &[("name", class)]),
        strong,
    };
    let (outer, inner) = (most(outer), most(inner));
    let mut picture = Picture::default();
    let own = picture.add(usize::from(!outer.is_empty()), boxed(name, true));
    for (class, count) in outer {
        let from = picture.add(0, boxed(&class, false));
        picture.arrow(Arrow {
            from,
            to: own,
            text: format!("{count}×"),
        });
    }
    for (class, count) in inner {
        let to = picture.add(own.0 + 1, boxed(&class, false));
        picture.arrow(Arrow {
            from: own,
            to,
            text: format!("{count}×"),
        });
    }
    html! { @if picture.has_arrows() {
        p.faint { "Held first, from left to right: so many functions take the right lock while they hold the left one." }
        (picture.draw())
    } }
}

pub(super) async fn list(State(app): State<Arc<App>>, headers: HeaderMap) -> Response {
    answer(app, headers, |visit| {
        let classes = visit.session.classes()?;
        let body = html! {
            h1 { (classes.len()) " lock classes" }
            table {
                thead { tr { th { "Class" } th.count { "functions" } th.count { "orders" } } }
                tbody { @for class in classes.iter() { tr.item {
                    td { (lock_link(&class.name)) }
                    td.count { (class.functions) }
                    td.count { (class.orders) }
                } } }
            }
        };
        Ok(frame::page(visit, Tab::Locks, "Locks", &body))
    })
    .await
}
