//! A finding and the words that all stages share for it: its level, and the steps of its trace.
//!
//! In: what a stage has found. Out: one value that later stages hand on, the database keeps and [`crate::report`]
//! renders. Knows nothing of how failures are found or shown.

mod explanation;
mod filter;
pub mod identity;
mod test_code;

use serde::{Deserialize, Serialize};

pub use self::explanation::{Explanation, Kind as ExplanationKind};
pub use self::filter::{Filter, Filtered};
pub use self::identity::fingerprint;
pub use self::test_code::is_test;

/// How sure and how grave, as the rule's measured precision has earned.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    clap::ValueEnum,
)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    Error,
    Warning,
    Note,
    /// A failure that an explanation covers wholly: kept, and shown only on demand.
    Explained,
}

impl Level {
    /// The name that the command line and reports have for it.
    pub fn name(self) -> &'static str {
        match self {
            Level::Error => "error",
            Level::Warning => "warning",
            Level::Note => "note",
            Level::Explained => "explained",
        }
    }
}

/// One step on the way to a failure.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TraceStep {
    pub file: String,
    /// 1-based; 0 when unknown.
    pub line: u32,
    /// 1-based; 0 when unknown.
    pub column: u32,
    /// The function the step is in.
    pub function: String,
    /// How many calls below the reported function the step lies.
    pub depth: u32,
    pub message: String,
}

/// One failure, as a person reads it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// `lock/double-lock`.
    pub rule: String,
    pub level: Level,
    pub message: String,
    pub file: String,
    pub line: u32,
    pub column: u32,
    pub function: String,
    /// The object as the programmer would write it: `dev->lock`.
    pub object: String,
    /// What a callee calls the object, where the function's own source has no clear name for it. In a report it is its name.
    pub retold: Option<String>,
    /// Stable under edits elsewhere: first the shape (rule, function, object path and trace), in a report what [`identity`] makes of it.
    pub fingerprint: String,
    /// The readings of what is not known under which it is none. The level follows from them.
    pub explanations: Vec<Explanation>,
    pub trace: Vec<TraceStep>,
    /// What the filters say of it, if it went through them.
    pub filtered: Option<Filtered>,
    /// The programs of the tree that it is in, if it is not in all that the function is linked into.
    pub programs: Vec<String>,
}

/// What the last step to an access says, of what the step before it has named.
pub const ACCESSED: &str = "is accessed here";

impl Finding {
    /// Adds an explanation, and lowers the level as that asks for.
    pub fn explain(&mut self, explanation: Explanation) {
        self.level = self.level.max(explanation.kind.level());
        if !self.explanations.contains(&explanation) {
            self.explanations.push(explanation);
        }
    }

    /// Calls the object as a callee does, if that is clearer; and completes what a step says.
    pub fn retell(&mut self) {
        for step in &mut self.trace {
            if step.message == ACCESSED {
                step.message = format!("it {ACCESSED}");
            }
        }
        let Some(clear) = self.retold.take() else {
            return;
        };
        let (old, new) = (format!("`{}`", self.object), format!("`{clear}`"));
        let texts = std::iter::once(&mut self.message)
            .chain(self.trace.iter_mut().map(|step| &mut step.message))
            .chain(self.explanations.iter_mut().map(|one| &mut one.text));
        for text in texts {
            *text = text.replace(&old, &new);
        }
        self.object = clear;
    }

    /// Adds an explanation of this kind of which no more is known.
    pub fn explain_by(&mut self, kind: ExplanationKind) {
        self.explain(kind.of(&self.object));
    }

    /// Adds an explanation of this kind: what another function does.
    pub fn explain_by_function(&mut self, kind: ExplanationKind, function: &str) {
        self.explain(kind.by(&self.object, function));
    }

    /// The strictest filter that reports it, if it went through them.
    pub fn filter(&self) -> Option<Filter> {
        self.filtered.as_ref().map(Filtered::strictest)
    }

    /// How early it is to be read: by its level, and of one level by the strictest filter that reports it; last what only tests have. 1 is the
    /// first.
    pub fn rank(&self) -> u32 {
        let filters = Filter::ALL.len() as u32 + 1;
        let filter = self.filter().map_or(0, |filter| filter as u32 + 1);
        let levels = Level::Explained as u32 + 1;
        let tests = u32::from(self.is_in_tests()) * levels * filters;
        1 + tests + self.level as u32 * filters + filter
    }

    /// Whether it is in a file of the program's own tests, or in programs only that are tests.
    pub fn is_in_tests(&self) -> bool {
        let mut programs = self.programs.iter();
        is_test(&self.file) || !self.programs.is_empty() && programs.all(|program| is_test(program))
    }

    /// Takes a finding out of the report that the filter does not pass, or the one that is in force for its rule.
    pub fn pass(&mut self, filter: Option<Filter>) {
        let filter = filter.unwrap_or_else(|| Filter::in_force_for(&self.rule));
        if self
            .filtered
            .as_ref()
            .is_some_and(|filtered| !filtered.passes(filter))
        {
            self.explain_by(ExplanationKind::Excluded);
        }
    }

    /// What makes it none, in words of the source.
    pub fn specification(&self) -> Option<String> {
        let filtered = self.filtered.as_ref();
        if let Some(found) = filtered.and_then(|filtered| filtered.specification.clone()) {
            return Some(found);
        }
        let texts: Vec<&str> = self.explanations.iter().map(|one| &*one.text).collect();
        (!texts.is_empty()).then(|| texts.join(", or "))
    }
}
