//! Results that a program hardly ever looks at.
//!
//! In: how often each function compares the results of its callees with null ([`crate::judge::results`]). Out: the callees of which the
//! whole program means to take the results as they come. A result that is followed without a test is a mistake where others are
//! tested; where hardly any is, it is how the program deals with a lack of memory.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;

use crate::judge::record::{Record, with_ids};
use crate::judge::results::Looked;

/// Untested results from which on they may be the program's way.
const MANY: u32 = 12;
/// Of so many results one is tested, or fewer.
const ONE_OF: u32 = 3;

/// The functions whose results the program hardly ever compares with null.
pub fn hardly_tested(records: &[Option<Record>]) -> FxHashSet<String> {
    let mut all: BTreeMap<&str, Looked> = BTreeMap::new();
    for (_, record) in with_ids(records) {
        for (callee, looked) in &record.facts.results.of {
            let sum = all.entry(callee).or_default();
            sum.tested += looked.tested;
            sum.untested += looked.untested;
        }
    }
    let hardly = all.into_iter().filter(|(_, looked)| {
        looked.untested >= MANY && looked.tested * ONE_OF <= looked.tested + looked.untested
    });
    hardly.map(|(callee, _)| callee.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::record::{Disposition, Facts};
    use crate::judge::results::Results;

    fn records(counts: &[(u32, u32)]) -> Vec<Option<Record>> {
        let record = |&(tested, untested): &(u32, u32)| {
            let looked = Looked { tested, untested };
            Some(Record {
                disposition: Disposition::Analysed,
                key: None,
                facts: Facts {
                    results: Results {
                        of: BTreeMap::from([("make".to_owned(), looked)]),
                        unchecked: Vec::new(),
                    },
                    ..Facts::default()
                },
            })
        };
        counts.iter().map(record).collect()
    }

    #[test]
    fn it_takes_many_untested_results_and_few_tested_ones() {
        assert!(hardly_tested(&records(&[(0, 8), (2, 6)])).contains("make"));
        assert!(!hardly_tested(&records(&[(2, 8), (6, 6)])).contains("make"));
        assert!(!hardly_tested(&records(&[(0, 4), (0, 5)])).contains("make"));
    }
}
