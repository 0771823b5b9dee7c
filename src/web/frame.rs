//! What all pages have in common: head, navigation, search, and the notices that every page shows.
//!
//! In: a page's title and body. Out: the answer to the request. The style sheet and the script are part of the program.

use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{Html, IntoResponse, Response};
use maud::{DOCTYPE, Markup, html};

use super::{Failure, Visit};
use crate::finding::Level;
use crate::source::inert;

const STYLE: &str = include_str!("assets/style.css");
const SCRIPT: &str = include_str!("assets/script.js");

/// Which entry of the navigation a page belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tab {
    Findings,
    Functions,
    Locks,
    Statistics,
    None,
}

/// A whole page.
pub(super) fn page(visit: &Visit<'_>, tab: Tab, title: &str, body: &Markup) -> Response {
    let tabs = [
        (Tab::Findings, "/", "Findings"),
        (Tab::Functions, "/functions", "Functions"),
        (Tab::Locks, "/locks", "Locks"),
        (Tab::Statistics, "/statistics", "Statistics"),
    ];
    let navigation = html! {
        nav {
            @for (own, address, name) in tabs {
                @if own == tab { a.here href=(address) aria-current="page" { (name) } }
                @else { a href=(address) { (name) } }
            }
        }
        form.search action="/functions" role="search" {
            input #search type="search" name="q" placeholder="function …  ( / )" autocomplete="off" aria-label="Search functions";
            ul #suggestions hidden {}
        }
    };
    Html(whole(title, &navigation, &html! { (notice(visit)) (body) }).into_string()).into_response()
}

fn whole(title: &str, navigation: &Markup, body: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (inert(title)) " – Cassini" }
                link rel="stylesheet" href="/style.css";
                link rel="icon" href="data:,";
                script src="/script.js" defer {}
            }
            body {
                header.top { a.brand href="/" { "Cassini" } (navigation) }
                main { (body) }
            }
        }
    }
}

/// What the reader has to know of the database.
fn notice(visit: &Visit<'_>) -> Markup {
    html! {
        @if visit.busy {
            p.notice role="status" {
                "A run is writing to the database. Findings are those of the last run that has ended, if there are any, \
                and no verdict can be given until the run ends."
            }
        }
    }
}

/// What is answered in place of a page.
pub(super) fn failed(visit: &Visit<'_>, failure: Failure) -> Response {
    let (status, what) = match failure {
        Failure::NotFound(what) => (StatusCode::NOT_FOUND, what),
        Failure::Refused(status, what) => (status, what),
        Failure::Broken(error) => (StatusCode::INTERNAL_SERVER_ERROR, format!("{error:#}")),
    };
    let body = html! { h1 { (status.canonical_reason().unwrap_or("Error")) } p { (inert(&what)) } };
    (status, page(visit, Tab::None, "Error", &body)).into_response()
}

/// The answer where there is no database to make a page of.
pub(super) fn broken(what: &str) -> Response {
    let body = html! { h1 { "The database cannot be read" } p { (inert(what)) } };
    let page = whole("Error", &html! {}, &body).into_string();
    (StatusCode::SERVICE_UNAVAILABLE, Html(page)).into_response()
}

pub(super) async fn nothing_here() -> Response {
    let body =
        html! { h1 { "Not Found" } p { "There is no such page. " a href="/" { "All findings" } } };
    let page = whole("Error", &html! {}, &body).into_string();
    (StatusCode::NOT_FOUND, Html(page)).into_response()
}

pub(super) async fn style() -> Response {
    ([(CONTENT_TYPE, "text/css; charset=utf-8")], STYLE).into_response()
}

pub(super) async fn script() -> Response {
    ([(CONTENT_TYPE, "text/javascript; charset=utf-8")], SCRIPT).into_response()
}

pub(super) fn badge(level: Level) -> Markup {
    html! { span class=(format!("badge {}", level.name())) { (level.name()) } }
}

/// An address of this server with these parameters.
pub(super) fn address(path: &str, parameters: &[(&str, &str)]) -> String {
    let mut out = path.to_owned();
    let used = parameters.iter().filter(|(_, value)| !value.is_empty());
    for (number, (name, value)) in used.enumerate() {
        out.push(if number == 0 { '?' } else { '&' });
        out.push_str(name);
        out.push('=');
        out.push_str(&encoded(value));
    }
    out
}

/// A text as the value of a parameter.
pub(super) fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' | b'/' => {
                out.push(char::from(byte));
            }
            byte => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// A link to the page of a function.
pub(super) fn function_link(name: &str, file: &str) -> Markup {
    html! { a.code href=(address("/function", &[("name", name), ("file", file)])) { (inert(name)) } }
}

/// A link to a line of the source.
pub(super) fn place_link(file: &str, line: u32) -> Markup {
    let mut to = address("/source", &[("file", file), ("line", &line.to_string())]);
    to.push_str(&format!("#L{line}"));
    html! { a.place href=(to) { (inert(&crate::report::place(file, line, 0))) } }
}

/// A link to the page of a lock class.
pub(super) fn lock_link(class: &str) -> Markup {
    html! { a.code href=(address("/lock", &[("name", class)])) { (inert(class)) } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_says_nothing_but_its_parameters() {
        let address = address(
            "/function",
            &[("name", "a&b=c"), ("none", ""), ("file", "x y/é\"<.c")],
        );
        assert_eq!(
            address,
            "/function?name=a%26b%3Dc&file=x%20y/%C3%A9%22%3C.c"
        );
    }
}
