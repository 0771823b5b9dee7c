//! Pictures of calls and of the order of locks: boxes in columns, and arrows between them, as SVG.
//!
//! In: boxes, each in a column, and arrows. Out: the drawing, with links. It has no styles of its own and no script.

use std::fmt::Write as _;

use maud::{Markup, PreEscaped, html};

use crate::source::inert;

const WIDTH: usize = 212;
const HEIGHT: usize = 40;
const GAP_X: usize = 90;
const GAP_Y: usize = 14;
/// Characters that a box is wide.
const CHARACTERS: usize = 25;

/// A box: a function or a lock class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Box {
    pub title: String,
    pub text: String,
    pub link: String,
    pub strong: bool,
}

/// From one box to another one; each is a column, and a place in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Arrow {
    pub from: (usize, usize),
    pub to: (usize, usize),
    pub text: String,
}

#[derive(Debug, Default)]
pub(super) struct Picture {
    columns: Vec<Vec<Box>>,
    arrows: Vec<Arrow>,
}

impl Picture {
    /// Adds a box at the end of a column, and answers its place.
    pub(super) fn add(&mut self, column: usize, one: Box) -> (usize, usize) {
        while self.columns.len() <= column {
            self.columns.push(Vec::new());
        }
        self.columns[column].push(one);
        (column, self.columns[column].len() - 1)
    }

    /// The place of the box of this title in a column, which is added if there is none.
    pub(super) fn find_or_add(&mut self, column: usize, one: Box) -> (usize, usize) {
        let known = self.columns.get(column).into_iter().flatten();
        match known.clone().position(|other| other.title == one.title) {
            Some(at) => (column, at),
            None => self.add(column, one),
        }
    }

    pub(super) fn arrow(&mut self, arrow: Arrow) {
        if !self.arrows.contains(&arrow) {
            self.arrows.push(arrow);
        }
    }

    pub(super) fn has_arrows(&self) -> bool {
        !self.arrows.is_empty()
    }

    pub(super) fn draw(&self) -> Markup {
        let rows = self.columns.iter().map(Vec::len).max().unwrap_or(0);
        let width =
            self.columns.len() * (WIDTH + GAP_X) - GAP_X.min(self.columns.len() * GAP_X) + 4;
        let height = rows * (HEIGHT + GAP_Y) + 4;
        html! {
            div.picture {
                svg viewBox=(format!("0 0 {width} {height}")) width=(width) height=(height) role="img" {
                    defs { marker #tip viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse" {
                        path.tip d="M0 0 L8 4 L0 8 z" {}
                    } }
                    @for arrow in &self.arrows { (self.line(arrow, rows)) }
                    @for (column, boxes) in self.columns.iter().enumerate() {
                        @for (row, one) in boxes.iter().enumerate() {
                            @let (x, y) = self.corner((column, row), rows);
                            (drawn(one, x, y))
                        }
                    }
                }
            }
        }
    }

    /// Where a box begins: columns are centred.
    fn corner(&self, (column, row): (usize, usize), rows: usize) -> (usize, usize) {
        let own = self.columns.get(column).map_or(0, Vec::len);
        let above = (rows - own) * (HEIGHT + GAP_Y) / 2;
        (
            column * (WIDTH + GAP_X) + 2,
            above + row * (HEIGHT + GAP_Y) + 2,
        )
    }

    fn line(&self, arrow: &Arrow, rows: usize) -> Markup {
        let ((from_x, from_y), (to_x, to_y)) =
            (self.corner(arrow.from, rows), self.corner(arrow.to, rows));
        let (y, end_y) = (from_y + HEIGHT / 2, to_y + HEIGHT / 2);
        let mut way = String::new();
        if to_x > from_x {
            let (x, middle) = (from_x + WIDTH, (from_x + WIDTH + to_x) / 2);
            _ = write!(
                way,
                "M{x} {y} C{middle} {y} {middle} {end_y} {to_x} {end_y}"
            );
        } else {
            // Back, or within a column: around the right side.
            let (x, end_x) = (from_x + WIDTH, to_x + WIDTH);
            let out = x.max(end_x) + GAP_X / 2;
            _ = write!(way, "M{x} {y} C{out} {y} {out} {end_y} {end_x} {end_y}");
        }
        let (text_x, text_y) = (
            (from_x + WIDTH + to_x) / 2,
            usize::midpoint(y, end_y).saturating_sub(4),
        );
        html! {
            path.arrow d=(way) marker-end="url(#tip)" {}
            @if !arrow.text.is_empty() { text.label x=(text_x) y=(text_y) text-anchor="middle" { (inert(&arrow.text)) } }
        }
    }
}

fn drawn(one: &Box, x: usize, y: usize) -> Markup {
    let class = if one.strong { "box strong" } else { "box" };
    let inside = html! {
        rect class=(class) x=(x) y=(y) width=(WIDTH) height=(HEIGHT) rx="5" {}
        text x=(x + 8) y=(if one.text.is_empty() { y + 25 } else { y + 17 }) { (short(&one.title)) }
        @if !one.text.is_empty() { text.label x=(x + 8) y=(y + 32) { (short(&one.text)) } }
        (PreEscaped("<title>")) (inert(&one.title)) " " (inert(&one.text)) (PreEscaped("</title>"))
    };
    html! { @if one.link.is_empty() { g { (inside) } } @else { a href=(one.link) { (inside) } } }
}

/// As much of a text as a box has room for: its end, which tells more than the beginning of a path.
fn short(text: &str) -> String {
    let text = inert(text);
    let length = text.chars().count();
    match length <= CHARACTERS {
        true => text.into_owned(),
        false => {
            let end: String = text.chars().skip(length - CHARACTERS + 1).collect();
            format!("…{end}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(title: &str) -> Box {
        Box {
            title: title.to_owned(),
            text: "a.c:1".to_owned(),
            link: "/function?name=f".to_owned(),
            strong: false,
        }
    }

    #[test]
    fn boxes_are_drawn_once_and_hostile_names_are_no_markup() {
        let mut picture = Picture::default();
        assert_eq!(picture.draw().into_string().matches("<rect").count(), 0);
        let caller = picture.find_or_add(0, one("<script>alert(1)</script>"));
        let callee = picture.find_or_add(1, one("g"));
        assert_eq!(picture.find_or_add(1, one("g")), callee);
        for _ in 0..2 {
            picture.arrow(Arrow {
                from: caller,
                to: callee,
                text: "\u{202e}\"<b>".to_owned(),
            });
        }
        let drawn = picture.draw().into_string();
        assert_eq!(
            (
                drawn.matches("<rect").count(),
                drawn.matches("<path class=\"arrow\"").count()
            ),
            (2, 1)
        );
        assert!(
            !drawn.contains("<script") && !drawn.contains("<b>") && !drawn.contains('\u{202e}'),
            "{drawn}"
        );
        assert!(drawn.contains("&lt;script&gt;alert"), "{drawn}");
    }

    #[test]
    fn a_long_name_is_shown_by_its_end() {
        let name = "a_name_that_is_much_longer_than_a_box_is";
        let shown = short(name);
        assert_eq!(shown.chars().count(), CHARACTERS);
        assert!(name.ends_with(shown.trim_start_matches('…')));
    }
}
