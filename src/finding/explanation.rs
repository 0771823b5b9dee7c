//! Readings of what the analysis does not know under which a failure is none, and what each does to the failure's level.
//!
//! In: what stages find. Out: [`Explanation`]s of a finding; the one table of their weights ([`Kind::level`]).

use serde::{Deserialize, Serialize};

use super::Level;

/// A reading of the unknowns that makes a failure go away.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Explanation {
    pub kind: Kind,
    /// In words of the source; goes on from "not a bug if ".
    pub text: String,
}

/// What an explanation is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    // Cover all paths to the failure.
    /// A comparison on the way has found the object to be another one.
    FoundEqual,
    /// The operation that is missed, or too many, is there under another name of the object.
    AnotherName,
    /// A function of which nothing is known has taken the object.
    TakenByUnknown,
    /// Another object leaves the function in another state on the same paths: what is amiss is that.
    LeftWithAnother,
    /// How a callee leaves the object is not known on these paths.
    UnknownEffect,
    /// Another object is held on entry, which no caller has held.
    OthersHeld,
    /// A callee has changed a number that decides whether the paths are taken.
    ChangedByCallee,
    /// The caller gets one object or another, and knows which by other means.
    AnotherInstead,
    /// The function operates on one of several objects, chosen by a condition.
    OneOfSeveral,
    /// A function that is called through a pointer does the rest.
    GivenAway,
    /// A callee keeps the object at times, and which times those are is not known.
    KeptAtTimes,
    /// All objects that the function goes through are of one kind.
    OneKind,
    /// A callee has the other half on some paths.
    HalfOfCallee,
    /// Another function of the file has the other half, and nobody names either: two operations of one table.
    HalfOfPair,
    /// Callers that are not in the program, or that cannot be followed, have the other half.
    LeftToCallers,
    /// Nothing is kept to restore the state from: it is meant to stay.
    ForGood,
    // Leave something possible.
    /// A callee whose summary is not exact has left the object otherwise.
    CalleeOutcome,
    /// The function never gives the object back, or finds it held: another function has the other half.
    OtherHalf,
    /// The results of two ways out are alike by chance only.
    ResultByChance,
    /// A callee gives another element of the same table back.
    AnotherElement,
    /// A callee gives the object back on some of these paths.
    GivenBackByCallee,
    /// A callee moves an object that has no name here.
    UnnamedByCallee,
    /// How a callee leaves another object of the kind is not known.
    AnotherUnknown,
    /// The object has just been made: nobody else knows of it.
    PerhapsNew,
    /// A callee has changed a flag of the function's.
    FlagChanged,
    /// A field has only the values that it is compared with.
    UnusedValue,
    /// An assertion has failed on the way, which says that this does not happen.
    AfterWarning,
    /// The assertion that fails says that it holds on all runs, and it does on others.
    Asserted,
    /// The object has no name in the source.
    NoName,
    /// Another function of the program has the other half for such objects.
    Counterpart,
    /// The semaphore is raised to tell that something is there.
    Signal,
    /// Another thread gives the object back.
    OtherThread,
    /// Callers outside the program ask for it by an argument.
    AskedFor,
    /// The object may be taken again by its holder.
    Recursive,
    /// A callee does not take its lock where it is called so.
    TakenAtTimes,
    /// Two locks of one kind of record are reached through different pointers, of which one is a global.
    AnotherRecord,
    /// It is dead code, or called from elsewhere.
    CalledElsewhere,
    /// All callers of the function are known, and none calls it so.
    CallersRuleOut,
    /// A callee does not return null here.
    CalleeSucceeds,
    /// A loop ends before the pointer is null.
    SearchSucceeds,
    /// A callee has put another pointer in its place.
    ReplacedByCallee,
    /// A macro compares the pointer with null, for all its users.
    TestedByMacro,
    /// The pointer is compared with null on other ways only.
    TestedElsewhere,
    /// A pointer that nobody compares with null is never null.
    NeverNull,
    /// A store through one of the block's own pointers has changed the place that its pointer is read from.
    ReplacedByLink,
    /// The program often follows results of the function that has failed without a look.
    OftenUntested,
    /// The program hardly ever frees results of the function that has made the object.
    OftenLost,
    /// A union's members lie in one place.
    AnotherMember,
    /// A loop that would put the object somewhere runs at least once.
    LoopRuns,
    /// A loop that ends what is in a table ends the object in one of its rounds.
    EndedInLoop,
    /// What the block itself says decides whether it is freed: a count of those who hold it.
    Counted,
    /// An operation on the object that fails before this one is told.
    ToldBefore,
    /// A specification of the inputs and callees excludes it that leaves no code dead.
    Excluded,
}

impl Kind {
    /// All kinds, in order.
    pub const ALL: [Kind; 53] = [
        Kind::FoundEqual,
        Kind::AnotherName,
        Kind::TakenByUnknown,
        Kind::LeftWithAnother,
        Kind::UnknownEffect,
        Kind::OthersHeld,
        Kind::ChangedByCallee,
        Kind::AnotherInstead,
        Kind::OneOfSeveral,
        Kind::GivenAway,
        Kind::KeptAtTimes,
        Kind::OneKind,
        Kind::HalfOfCallee,
        Kind::HalfOfPair,
        Kind::LeftToCallers,
        Kind::ForGood,
        Kind::CalleeOutcome,
        Kind::OtherHalf,
        Kind::ResultByChance,
        Kind::AnotherElement,
        Kind::GivenBackByCallee,
        Kind::UnnamedByCallee,
        Kind::AnotherUnknown,
        Kind::PerhapsNew,
        Kind::FlagChanged,
        Kind::UnusedValue,
        Kind::AfterWarning,
        Kind::Asserted,
        Kind::NoName,
        Kind::Counterpart,
        Kind::Signal,
        Kind::OtherThread,
        Kind::AskedFor,
        Kind::Recursive,
        Kind::TakenAtTimes,
        Kind::AnotherRecord,
        Kind::CalledElsewhere,
        Kind::CallersRuleOut,
        Kind::CalleeSucceeds,
        Kind::SearchSucceeds,
        Kind::ReplacedByCallee,
        Kind::TestedByMacro,
        Kind::TestedElsewhere,
        Kind::NeverNull,
        Kind::ReplacedByLink,
        Kind::OftenUntested,
        Kind::OftenLost,
        Kind::AnotherMember,
        Kind::LoopRuns,
        Kind::EndedInLoop,
        Kind::Counted,
        Kind::ToldBefore,
        Kind::Excluded,
    ];

    /// The gravest level of a failure that has such an explanation.
    ///
    /// Those that cover all paths to a failure, as far as they are known, hide it: each was nearly always the case where it
    /// could be. Of the others the failure is worth a look for who wants to see all.
    pub fn level(self) -> Level {
        use Kind::*;
        match self {
            FoundEqual | AnotherName | TakenByUnknown | LeftWithAnother | UnknownEffect
            | OthersHeld | ChangedByCallee | AnotherInstead | OneOfSeveral | GivenAway
            | KeptAtTimes | OneKind | HalfOfCallee | HalfOfPair | LeftToCallers | ForGood
            | TestedByMacro | ToldBefore | Excluded => Level::Explained,
            CalleeOutcome | OtherHalf | ResultByChance | AnotherElement | GivenBackByCallee
            | UnnamedByCallee | AnotherUnknown | PerhapsNew | FlagChanged | UnusedValue
            | AfterWarning | Asserted | NoName | Counterpart | Signal | OtherThread | AskedFor
            | Recursive | TakenAtTimes | AnotherRecord | CalledElsewhere | CallersRuleOut
            | CalleeSucceeds | SearchSucceeds | ReplacedByCallee | TestedElsewhere | NeverNull
            | OftenUntested | OftenLost | ReplacedByLink | AnotherMember | LoopRuns
            | EndedInLoop | Counted => Level::Note,
        }
    }

    /// The explanation of a failure of this object by what another function does.
    pub fn by(self, object: &str, function: &str) -> Explanation {
        use Kind::*;
        let text = match self {
            Counterpart | HalfOfPair | LeftToCallers => {
                format!("`{function}` has the other half of what is done to `{object}`")
            }
            Signal => {
                format!("`{object}` is raised in `{function}` to tell that something is there")
            }
            OtherThread => {
                format!("`{function}`, in another thread, gives `{object}` back")
            }
            _ => return self.of(object),
        };
        Explanation { kind: self, text }
    }

    /// The explanation of a failure of this object, where nothing more is known of it.
    pub fn of(self, object: &str) -> Explanation {
        use Kind::*;
        let text = match self {
            HalfOfCallee => format!("a callee has the other half of what is done to `{object}`"),
            HalfOfPair => {
                format!("another function has the other half of what is done to `{object}`")
            }
            LeftToCallers => format!("callers have the other half of what is done to `{object}`"),
            ForGood => format!("`{object}` is meant to stay so"),
            FoundEqual => format!("`{object}` is another object, as a comparison on the way says"),
            AnotherName => format!("`{object}` is operated on under another name, too"),
            TakenByUnknown => {
                format!("a function that is not known has taken `{object}` for this one")
            }
            LeftWithAnother => "it goes with another lock, which is left so, too".to_owned(),
            UnknownEffect => {
                format!("a callee, of which too little is known, leaves `{object}` otherwise")
            }
            OthersHeld => "no caller holds another lock that this path needs to be held".to_owned(),
            ChangedByCallee => {
                "callees change none of the numbers that decide whether this path is taken"
                    .to_owned()
            }
            AnotherInstead => {
                "another lock is held in its place, and callers know which".to_owned()
            }
            OneOfSeveral => format!("`{object}` is one of several that are chosen by a condition"),
            GivenAway => {
                format!("a function called through a pointer gives `{object}` back")
            }
            KeptAtTimes => format!("the callee leaves `{object}` alone here, as it does at times"),
            OneKind => "all objects that are gone through are of one kind".to_owned(),
            CalleeOutcome => {
                format!("a callee has left `{object}` otherwise than its summary tells")
            }
            OtherHalf => {
                format!("another function has the other half of what is done to `{object}`")
            }
            ResultByChance => "the results of the two ways out are alike by chance only".to_owned(),
            AnotherElement => format!("a callee gives `{object}` back with the rest of its table"),
            GivenBackByCallee => format!("a callee gives `{object}` back on this path"),
            UnnamedByCallee => {
                format!("a callee operates on `{object}`, which it finds in another way")
            }
            AnotherUnknown => {
                "the other way out keeps another lock, which a callee has taken".to_owned()
            }
            PerhapsNew => format!("`{object}` has just been made, and nobody else knows of it"),
            FlagChanged => {
                "callees leave alone the flag that decides whether this path is taken".to_owned()
            }
            UnusedValue => "a field has none but the values that it is compared with".to_owned(),
            Asserted => format!("`{object}` holds whenever the function comes to it"),
            AfterWarning => "the assertion that fails on the way always holds".to_owned(),
            NoName => "what is meant here is another object than it seems".to_owned(),
            Counterpart => {
                format!("another function has the other half of what is done to `{object}`")
            }
            Signal => format!("`{object}` is raised to tell that something is there"),
            OtherThread => format!("another thread gives `{object}` back"),
            AskedFor => format!("callers elsewhere ask for `{object}` to be kept"),
            Recursive => format!("`{object}` is recursive"),
            TakenAtTimes => "a callee does not take its lock where it is called so".to_owned(),
            AnotherRecord => {
                "the two orders are those of locks in different records, which different pointers lead to"
                    .to_owned()
            }
            CallersRuleOut => "no caller of the function can bring it about".to_owned(),
            CalledElsewhere => {
                "the function is never called, or only where the lock is held".to_owned()
            }
            CalleeSucceeds if object == "NULL" => {
                "the callee does not follow the null pointer here".to_owned()
            }
            SearchSucceeds if object == "NULL" => "the loop ends before it comes to this".to_owned(),
            CalleeSucceeds => format!("a callee sees to it that `{object}` is not null here"),
            SearchSucceeds => format!("the loop ends before `{object}` is null"),
            ReplacedByCallee => format!("a callee has put another pointer where `{object}` is read from"),
            TestedByMacro => format!("`{object}` is never null, though a macro asks"),
            TestedElsewhere => {
                format!("`{object}` is null only on the ways on which it is compared with null")
            }
            OftenUntested => "the program means to end where that function fails: it often follows its results without a test".to_owned(),
            OftenLost => "the program does not know the results of that function to be its own: it hardly ever frees one, which is told once".to_owned(),
            NeverNull => "a pointer is not null that nobody compares with null".to_owned(),
            ReplacedByLink => {
                format!("`{object}` was taken out of a list, and another is read from its place")
            }
            AnotherMember => format!("`{object}` is another member of a union here"),
            LoopRuns => format!("a loop that `{object}` goes into is never skipped"),
            EndedInLoop => format!("a round of a loop ends `{object}`"),
            Counted => format!("what `{object}` itself says, as a count of those who hold it does, keeps it from being freed"),
            ToldBefore => format!("it is the same mistake as at an earlier operation on `{object}`, which is told"),
            Excluded => "callers and callees see to it, which no code here speaks against".to_owned(),
        };
        Explanation { kind: self, text }
    }

    /// The name that the report and the database have for it.
    pub fn name(self) -> String {
        let name = serde_json::to_value(self).ok();
        let name = name.as_ref().and_then(|name| name.as_str());
        name.unwrap_or_default().to_owned()
    }

    /// What it means and when it is found, as Markdown.
    pub fn manual(self) -> &'static str {
        let name = self.name();
        let mut sections = MANUAL.split("\n## ").skip(1);
        let own = sections.find(|section| section.lines().next() == Some(&name));
        own.unwrap_or_default().trim()
    }
}

/// One section for each kind.
const MANUAL: &str = include_str!("../../docs/explanations.md");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Finding;

    #[test]
    fn each_kind_has_a_section_that_says_its_level() {
        for kind in Kind::ALL {
            let manual = kind.manual();
            let level = serde_json::to_value(kind.level()).unwrap();
            let says = format!("Level: {}.", level.as_str().unwrap());
            assert!(manual.contains(&says), "{}: {says}", kind.name());
        }
        assert_eq!(MANUAL.matches("\n## ").count(), Kind::ALL.len());
    }

    #[test]
    fn a_finding_is_as_grave_as_its_gravest_explanation_lets_it_be() {
        let mut finding = Finding {
            rule: "lock/double-lock".into(),
            level: Level::Error,
            message: String::new(),
            retold: None,
            file: "a.c".into(),
            line: 1,
            column: 1,
            function: "f".into(),
            object: "l".into(),
            fingerprint: String::new(),
            explanations: Vec::new(),
            trace: Vec::new(),
            filtered: None,
            programs: Vec::new(),
        };
        finding.explain_by(Kind::Counterpart);
        assert_eq!(finding.level, Level::Note);
        finding.explain_by(Kind::AnotherName);
        finding.explain_by(Kind::Counterpart);
        assert_eq!(finding.level, Level::Explained);
    }
}
