use proptest::prelude::*;

use super::*;
use crate::ir::LocalId;
use crate::symbolic::formula::Formula;
use crate::symbolic::heap::{Heap, Initial};
use crate::symbolic::model::Model;
use crate::symbolic::origin::{Origin, Origins};
use crate::symbolic::region::{FrameId, Regions};

const SIZE: usize = 48;

#[derive(Clone, Debug)]
enum Step {
    Write { at: usize, size: usize, value: u64 },
    Zero { at: usize, size: usize },
    Copy { to: usize, from: usize, size: usize },
}

fn step() -> impl Strategy<Value = Step> {
    let size = prop_oneof![Just(1usize), Just(2), Just(4), Just(8)];
    prop_oneof![
        (0..SIZE - 8, size, any::<u64>()).prop_map(|(at, size, value)| Step::Write {
            at,
            size,
            value
        }),
        (0..SIZE, 1..SIZE).prop_map(|(at, size)| Step::Zero {
            at,
            size: size.min(SIZE - at)
        }),
        (0..SIZE, 0..SIZE, 1..SIZE).prop_map(|(to, from, size)| Step::Copy {
            to,
            from,
            size: size.min(SIZE - to).min(SIZE - from)
        }),
    ]
}

fn run(steps: &[Step], terms: &mut Terms, base: Loc, memory: &mut Memory, bytes: &mut [u8]) {
    for step in steps {
        match *step {
            Step::Write { at, size, value } => {
                let term = terms.constant(u128::from(value), (size * 8) as u16);
                memory.write(terms, base.plus(at as i64), term);
                bytes[at..at + size].copy_from_slice(&value.to_le_bytes()[..size]);
            }
            Step::Zero { at, size } => {
                memory.zero(base.plus(at as i64), size as u64);
                bytes[at..at + size].fill(0);
            }
            Step::Copy { to, from, size } => {
                memory.copy(base.plus(to as i64), base.plus(from as i64), size as u64);
                bytes.copy_within(from..from + size, to);
            }
        }
    }
}

proptest! {
    /// A memory reads like an array of bytes, and a merged one like the side that was taken.
    #[test]
    fn reads_like_bytes(
        before in prop::collection::vec(step(), 0..6),
        left in prop::collection::vec(step(), 0..6),
        right in prop::collection::vec(step(), 0..6),
        after in prop::collection::vec(step(), 0..4),
        reads in prop::collection::vec((0..SIZE - 8, 1..8usize), 8),
    ) {
        let (mut formula, mut regions) = (Formula::new(), Regions::new());
        let (mut origins, mut initial) = (Origins::default(), Initial::default());
        let kind = RegionKind::Local { frame: FrameId(0), local: LocalId(0) };
        let region = regions.region(kind);
        let base = Loc { region, symbolic: SymbolicOffset::NONE, offset: 0 };
        let (choice, term) = formula.terms.fresh(1);
        let guard = formula.guard_of(term);
        let mut memory = Memory::default();
        let mut bytes = [0u8; SIZE];
        memory.zero(base, SIZE as u64);
        run(&before, &mut formula.terms, base, &mut memory, &mut bytes);
        let (mut then, mut els) = (memory.clone(), memory);
        let (mut then_bytes, mut els_bytes) = (bytes, bytes);
        run(&left, &mut formula.terms, base, &mut then, &mut then_bytes);
        run(&right, &mut formula.terms, base, &mut els, &mut els_bytes);
        let mut heap = Heap {
            formula: &mut formula,
            regions: &mut regions,
            origins: &mut origins,
            initial: &mut initial,
        };
        let mut merged = then.merge(&mut heap, guard, &els);
        for (taken, bytes) in [(1, &mut then_bytes), (0, &mut els_bytes)] {
            let mut merged = merged.clone();
            run(&after, &mut heap.formula.terms, base, &mut merged, bytes);
            let model = Model::new([(choice, taken)]);
            for &(at, size) in &reads {
                let term = merged.read(&mut heap, base.plus(at as i64), size as u64);
                let value = model.eval(heap.formula, term);
                let mut expected = [0u8; 16];
                expected[..size].copy_from_slice(&bytes[at..at + size]);
                prop_assert_eq!(value, u128::from_le_bytes(expected));
            }
        }
        merged.forget(region);
        prop_assert!(merged.same(&Memory::default()) || merged.cells.is_empty());
    }
}

/// A front of which the rest was overwritten is a number of its own size, however wide the term behind it.
#[test]
fn the_front_of_a_number_is_no_narrow_pointer() {
    let (mut formula, mut regions) = (Formula::new(), Regions::new());
    let (mut origins, mut initial) = (Origins::default(), Initial::default());
    let local = LocalId(0);
    let frame = FrameId(0);
    let loc = Loc {
        region: regions.region(RegionKind::Local { frame, local }),
        symbolic: SymbolicOffset::NONE,
        offset: 0,
    };
    let number = formula.terms.constant(0x8877_6655_4433_2211, 64);
    let half = formula.terms.constant(0, 32);
    let mut cut = Memory::default();
    cut.write(&formula.terms, loc, number);
    let whole = cut.clone();
    cut.write(&formula.terms, loc.plus(4), half);
    let mut other = whole.clone();
    other.write(&formula.terms, loc, half);
    let condition = origins.fresh(&mut formula.terms, 1, Origin::Unknown);
    let guard = formula.guard_of(condition);
    assert_eq!(cut.shape(&formula.terms, loc, 4), Shape::from(4));
    let mut heap = Heap {
        formula: &mut formula,
        regions: &mut regions,
        origins: &mut origins,
        initial: &mut initial,
    };
    let pointer = cut.read(&mut heap, loc, Shape::pointer(4));
    assert_eq!(heap.formula.terms.as_const(pointer), Some(0x4433_2211));
    let merged = cut.merge(&mut heap, guard, &other);
    let front = merged.read(&mut heap, loc, 4);
    let low = heap.formula.terms.constant(0x4433_2211, 32);
    assert_eq!(front, heap.formula.ite_guard(guard, low, half));
}

/// Two records, one copied to the other or back, again and again: each content is read by two ways.
#[test]
fn nested_contents_are_read_once() {
    let (mut formula, mut regions) = (Formula::new(), Regions::new());
    let (mut origins, mut initial) = (Origins::default(), Initial::default());
    let place = |region| Loc {
        region,
        symbolic: SymbolicOffset::NONE,
        offset: 0,
    };
    let local = |regions: &mut Regions, index| {
        let local = LocalId(index);
        place(regions.region(RegionKind::Local {
            frame: FrameId(0),
            local,
        }))
    };
    let (x, y) = (local(&mut regions, 0), local(&mut regions, 1));
    let mut memory = Memory::default();
    for _ in 0..100 {
        let condition = origins.fresh(&mut formula.terms, 1, Origin::Unknown);
        let guard = formula.guard_of(condition);
        let (mut one, mut other) = (memory.clone(), memory.clone());
        one.copy(x, y, SIZE as u64);
        other.copy(y, x, SIZE as u64);
        let mut heap = Heap {
            formula: &mut formula,
            regions: &mut regions,
            origins: &mut origins,
            initial: &mut initial,
        };
        memory = one.merge(&mut heap, guard, &other);
    }
    let mut heap = Heap {
        formula: &mut formula,
        regions: &mut regions,
        origins: &mut origins,
        initial: &mut initial,
    };
    assert_eq!(memory.read(&mut heap, x, 8), memory.read(&mut heap, x, 8));
}

#[test]
fn entry_values_are_the_same_for_every_reader() {
    let (mut formula, mut regions) = (Formula::new(), Regions::new());
    let (mut origins, mut initial) = (Origins::default(), Initial::default());
    let base = origins.fresh(&mut formula.terms, 64, Origin::Param(0));
    let region = regions.region(RegionKind::Environment { base });
    let loc = Loc {
        region,
        symbolic: SymbolicOffset::NONE,
        offset: 8,
    };
    let mut heap = Heap {
        formula: &mut formula,
        regions: &mut regions,
        origins: &mut origins,
        initial: &mut initial,
    };
    let whole = Memory::default().read(&mut heap, loc, 8);
    let upper = Memory::default().read(&mut heap, loc.plus(4), 4);
    assert_eq!(heap.formula.terms.extract(whole, 32, 32), upper);
    // A wider read over known parts and a gap keeps the parts.
    let wide = Memory::default().read(&mut heap, loc.plus(4), 8);
    assert_eq!(heap.formula.terms.extract(wide, 0, 32), upper);
    assert_eq!(Memory::default().read(&mut heap, loc, 8), whole);
}
