//! What a transition touches, and whether two transitions may be taken in either order.
//!
//! In: accesses and calls as the machine makes them. Out: [`Footprint`]s, and their dependence (Flanagan, Godefroid, POPL'05, §2).

/// What one transition of a thread touches.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Footprint {
    /// Sorted once the transition is over. Those that are not written are only read.
    touched: Vec<(Touched, bool)>,
    /// Nothing is known of it, or nothing comes after it: it depends on everything.
    pub whole: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Touched {
    /// Four bytes of memory, by their number.
    Word(u64),
    /// An object that threads synchronise by.
    Object(u64),
    /// A thread's end.
    Thread(usize),
}

impl Footprint {
    /// Of a transition of which nothing is known.
    pub fn everything() -> Footprint {
        Footprint {
            touched: Vec::new(),
            whole: true,
        }
    }

    pub fn word(&mut self, word: u64, write: bool) {
        self.touched.push((Touched::Word(word), write));
    }

    pub fn touch(&mut self, touched: Touched) {
        self.touched.push((touched, true));
    }

    /// To be called at the end: each thing once, written if it is at all.
    pub fn finish(&mut self) {
        self.touched
            .sort_unstable_by_key(|(what, write)| (*what, !*write));
        self.touched.dedup_by_key(|(what, _)| *what);
    }

    /// Whether the order of two transitions matters.
    pub fn depends(&self, other: &Footprint) -> bool {
        if self.whole || other.whole {
            return true;
        }
        let (mut left, mut right) = (self.touched.iter(), other.touched.iter());
        let (mut one, mut two) = (left.next(), right.next());
        while let (Some(a), Some(b)) = (one, two) {
            match a.0.cmp(&b.0) {
                std::cmp::Ordering::Less => one = left.next(),
                std::cmp::Ordering::Greater => two = right.next(),
                std::cmp::Ordering::Equal if a.1 || b.1 => return true,
                std::cmp::Ordering::Equal => {
                    one = left.next();
                    two = right.next();
                }
            }
        }
        false
    }

    /// Adds what another one touches.
    pub fn extend(&mut self, other: &Footprint) {
        self.whole |= other.whole;
        self.touched.extend(&other.touched);
        self.finish();
    }

    /// Whether it has all that another one touches.
    pub fn covers(&self, other: &Footprint) -> bool {
        self.whole
            || !other.whole
                && other.touched.iter().all(|(what, write)| {
                    let known = self.touched.binary_search_by_key(what, |known| known.0);
                    known.is_ok_and(|at| self.touched[at].1 || !write)
                })
    }
}
