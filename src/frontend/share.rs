//! What units share: everything that is derived from a declaration's content alone.
//!
//! In: content hashes. Out: outlines, syntax trees and lowered functions, each computed once for all
//! units and threads (two threads that race compute the same value). Syntax trees are kept up to a
//! byte budget, the least recently used half going first.

use std::sync::Arc;

use parking_lot::Mutex;
use rustc_hash::FxHashMap;

use super::outline::{NameId, Outline, Space};
use super::parse::{DeclKey, Declaration};
use super::{BodyKey, FunctionDef, LossReason};

const SHARDS: usize = 64;
/// Stack to drop syntax trees on.
const STACK: usize = 128 << 20;
/// Bytes of source text whose syntax trees are kept; a tree takes some thirty times its text.
const TREE_BUDGET: usize = 24 << 20;

/// A name that a function's body depends on.
pub type Dep = (Space, NameId);

/// A function as it was lowered where its names had certain meanings.
#[derive(Debug)]
pub struct Variant {
    /// Every name looked up, in order, each once.
    pub deps: Box<[Dep]>,
    /// Hash of the definition and of the meanings of `deps`.
    pub key: BodyKey,
    pub definition: Arc<FunctionDef>,
    /// Names of the functions that the body mentions.
    pub mentions: Box<[NameId]>,
    /// Names of the objects whose addresses stand in the initialisers of its static variables.
    pub taken: Box<[NameId]>,
    /// Lines of the nested functions that it lacks.
    pub nested: Box<[u32]>,
}

/// A parsed declaration, or why there is none.
pub type Tree = Result<Arc<Declaration>, LossReason>;

#[derive(Default)]
struct Trees {
    young: FxHashMap<DeclKey, (Tree, usize)>,
    old: FxHashMap<DeclKey, (Tree, usize)>,
    /// Bytes of text behind `young`.
    weight: usize,
}

/// What is known of each definition.
type Variants = FxHashMap<DeclKey, Arc<[Arc<Variant>]>>;

/// State shared by the front ends of all units of a run.
pub struct Share {
    outlines: Vec<Mutex<FxHashMap<u128, Arc<Outline>>>>,
    trees: Vec<Mutex<Trees>>,
    variants: Vec<Mutex<Variants>>,
}

impl Default for Share {
    fn default() -> Self {
        Share::new()
    }
}

fn shard(bits: u128) -> usize {
    (bits % SHARDS as u128) as usize
}

fn shard_of(key: &DeclKey) -> usize {
    shard(u128::from_le_bytes(key.0))
}

impl Share {
    pub fn new() -> Share {
        fn shards<T: Default>() -> Vec<Mutex<T>> {
            (0..SHARDS).map(|_| Mutex::default()).collect()
        }
        Share {
            outlines: shards(),
            trees: shards(),
            variants: shards(),
        }
    }

    /// The outline of a content, computed if it is new.
    pub fn outline(&self, raw: u128, compute: impl FnOnce() -> Outline) -> Arc<Outline> {
        let shard = &self.outlines[shard(raw)];
        if let Some(outline) = shard.lock().get(&raw) {
            return Arc::clone(outline);
        }
        let outline = Arc::new(compute());
        Arc::clone(shard.lock().entry(raw).or_insert(outline))
    }

    /// The syntax tree under a key, parsed if it is not here; `weight` is its text's length.
    pub fn tree(&self, key: DeclKey, weight: usize, parse: impl FnOnce() -> Tree) -> Tree {
        let shard = &self.trees[shard_of(&key)];
        {
            let mut trees = shard.lock();
            if let Some((tree, _)) = trees.young.get(&key) {
                return tree.clone();
            }
            if let Some((tree, weight)) = trees.old.remove(&key) {
                trees.keep(key, tree.clone(), weight);
                return tree;
            }
        }
        let tree = parse();
        shard.lock().keep(key, tree.clone(), weight);
        tree
    }

    /// The ways a function definition was lowered so far.
    pub fn variants(&self, key: &DeclKey) -> Arc<[Arc<Variant>]> {
        let shard = self.variants[shard_of(key)].lock();
        shard.get(key).cloned().unwrap_or_default()
    }

    pub fn add_variant(&self, key: DeclKey, variant: Arc<Variant>) {
        let mut shard = self.variants[shard_of(&key)].lock();
        let variants = shard.entry(key).or_default();
        if variants.iter().all(|known| known.key != variant.key) {
            let known = variants.iter().cloned();
            *variants = known.chain([variant]).collect();
        }
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        // Trees are dropped recursively.
        let trees = std::mem::take(&mut self.trees);
        stacker::maybe_grow(STACK, STACK, || drop(trees));
    }
}

impl Trees {
    fn keep(&mut self, key: DeclKey, tree: Tree, weight: usize) {
        if self.weight + weight > TREE_BUDGET / SHARDS / 2 {
            self.old = std::mem::take(&mut self.young);
            self.weight = 0;
        }
        self.weight += weight;
        self.young.insert(key, (tree, weight));
    }
}
