//! Rows with as few conditions as tell them apart.
//!
//! In: combinations of conditions, and what follows from each. Out: fewer combinations, of fewer conditions, from which the same
//! follows wherever any of the first ones applies.

use crate::summary::Cube;

/// Conditions beyond this number are not minimised: all their valuations are looked at.
const MAX_CONDITIONS: usize = 10;

/// The minimised combinations of each group, in the order of the groups. A combination of no group never happens.
pub fn minimise(groups: &[Vec<Cube>]) -> Vec<Vec<Cube>> {
    let all = || groups.iter().flatten();
    let conditions = all().map(Vec::len).max().unwrap_or(0);
    let mut used: Vec<usize> = (0..conditions).collect();
    used.retain(|&at| all().any(|cube| cube[at].is_some()));
    let minimised = groups
        .iter()
        .map(|group| match used.len() <= MAX_CONDITIONS {
            true => shrink(group, &used, &|point| {
                let holds = |cubes: &[Cube]| cubes.iter().any(|cube| has(cube, point));
                !holds(group) && groups.iter().any(|other| holds(other))
            }),
            false => without_repetition(group.clone()),
        });
    minimised.collect()
}

/// Whether a combination of conditions applies under a valuation of all.
fn has(cube: &Cube, point: &[bool]) -> bool {
    let mut wanted = cube.iter().zip(point);
    wanted.all(|(wanted, value)| wanted.is_none_or(|wanted| wanted == *value))
}

/// The valuations that a combination applies under, of the conditions in use.
fn points(cube: &Cube, used: &[usize]) -> impl Iterator<Item = Vec<bool>> {
    let free: Vec<usize> = used
        .iter()
        .copied()
        .filter(|&at| cube[at].is_none())
        .collect();
    let fixed: Vec<bool> = cube.iter().map(|wanted| wanted.unwrap_or(false)).collect();
    (0..1usize << free.len()).map(move |number| {
        let mut point = fixed.clone();
        for (bit, &at) in free.iter().enumerate() {
            point[at] = number >> bit & 1 == 1;
        }
        point
    })
}

/// Drops each condition without which nothing excluded is let in, the last ones first; then what other combinations say.
fn shrink(group: &[Cube], used: &[usize], excluded: &dyn Fn(&[bool]) -> bool) -> Vec<Cube> {
    let mut cubes = group.to_vec();
    for cube in &mut cubes {
        for &at in used.iter().rev() {
            let wanted = cube[at].take();
            if wanted.is_some() && points(cube, used).any(|point| excluded(&point)) {
                cube[at] = wanted;
            }
        }
    }
    let mut cubes = without_repetition(cubes);
    for index in (0..cubes.len()).rev() {
        let cube = cubes.remove(index);
        let told = |point: &[bool]| {
            let wanted = group.iter().any(|own| has(own, point));
            !wanted || cubes.iter().any(|other| has(other, point))
        };
        if !points(&cube, used).all(|point| told(&point)) {
            cubes.insert(index, cube);
        }
    }
    cubes
}

fn without_repetition(mut cubes: Vec<Cube>) -> Vec<Cube> {
    let mut at = 0;
    while at < cubes.len() {
        match cubes[..at].contains(&cubes[at]) {
            true => {
                cubes.remove(at);
            }
            false => at += 1,
        }
    }
    cubes
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cube() -> impl Strategy<Value = Cube> {
        prop::collection::vec(prop::option::of(any::<bool>()), 4)
    }

    proptest! {
        #[test]
        fn minimised_rows_mean_the_same(
            groups in prop::collection::vec(prop::collection::vec(cube(), 0..5), 1..4)
        ) {
            let minimised = minimise(&groups);
            let any = vec![None; 4];
            for point in points(&any, &[0, 1, 2, 3]) {
                let follows = |groups: &[Vec<Cube>]| -> Vec<bool> {
                    let of = |group: &Vec<Cube>| group.iter().any(|cube| has(cube, &point));
                    groups.iter().map(of).collect()
                };
                let before = follows(&groups);
                if before.contains(&true) {
                    prop_assert_eq!(before, follows(&minimised));
                }
            }
            for (group, smaller) in groups.iter().zip(&minimised) {
                prop_assert!(smaller.len() <= group.len());
            }
        }
    }

    #[test]
    fn what_leads_to_one_end_only_has_no_condition() {
        let rows = vec![vec![Some(true), None], vec![Some(false), Some(true)]];
        assert_eq!(minimise(&[rows]), [vec![vec![None, None]]]);
    }

    #[test]
    fn a_condition_that_tells_two_ends_apart_stays() {
        let groups = [
            vec![vec![Some(true), Some(true)], vec![Some(true), Some(false)]],
            vec![vec![Some(false), Some(true)]],
        ];
        let expected = [vec![vec![Some(true), None]], vec![vec![Some(false), None]]];
        assert_eq!(minimise(&groups), expected);
    }
}
