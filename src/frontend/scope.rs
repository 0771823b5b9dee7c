//! What each name means in one translation unit.
//!
//! In: the unit's split declarations. Out: for a typedef name, a tag or an ordinary identifier, the
//! external declaration that gives it its meaning, parsed on demand and shared between units.

use std::cell::RefCell;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use xxhash_rust::xxh3::Xxh3;

use super::BodyKey;
use super::lex::{self, Token};
use super::normalise::{self, Guess, Normalised};
use super::outline::{Form, NameId, Outline, Space, outline, rank};
use super::parse::{self, DeclKey, Declaration};
use super::share::{Dep, Share, Tree};
use super::split::{Piece, Pieces, SourceFile};
use super::{LossReason, Stage};

/// Which kind of tag a name is looked up as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TagKind {
    Struct,
    Union,
    Enum,
}

/// An external declaration of the unit at hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DeclId(pub u32);

/// File-scope name look-up in one unit. Look-up is flat: C allows one file-scope meaning for each name
/// and name space in a unit, so order does not matter to lowering.
pub trait Scope {
    /// The declaration that declares this typedef name.
    fn typedef(&self, name: &str) -> Option<DeclId>;
    /// The declaration that defines (gives the members or enumerators of) this tag.
    fn tag(&self, kind: TagKind, name: &str) -> Option<DeclId>;
    /// The declaration of a function, object or enumerator: the definition if the unit has it, else
    /// the most complete declaration.
    fn ordinary(&self, name: &str) -> Option<DeclId>;
    /// Whether any declaration of the function says that it does not return.
    fn noreturn(&self, _name: &str) -> bool {
        false
    }
    /// Whether any declaration of the function or object gives it internal linkage: `static` on the
    /// first one makes the others static too.
    fn internal(&self, _name: &str) -> bool {
        false
    }
    /// The parsed declaration; a function definition is given as its prototype, without the body.
    fn declaration(&self, id: DeclId) -> Result<Arc<Declaration>, LossReason>;
}

/// What a name means: the declaration that says most about it.
#[derive(Clone, Copy, Debug)]
struct Meaning {
    id: DeclId,
    rank: u8,
    internal: bool,
    /// A file that other units can include declares it.
    shared: bool,
}

/// The external declarations of one unit and what its names mean.
pub struct UnitScope<'a> {
    share: &'a Share,
    text: &'a [u8],
    pieces: Pieces<'a>,
    outlines: Vec<Arc<Outline>>,
    names: FxHashMap<Dep, Meaning>,
    /// Keys of declarations as dependencies, computed on demand.
    keys: RefCell<Vec<Option<DeclKey>>>,
}

impl<'a> UnitScope<'a> {
    pub fn new(share: &'a Share, text: &'a [u8], pieces: Pieces<'a>) -> UnitScope<'a> {
        let outlines: Vec<Arc<Outline>> = pieces
            .pieces
            .iter()
            .map(|piece| {
                let compute =
                    || outline(text, &tokens(text, &pieces, piece, piece.end), piece.body);
                if pieces.files.is_main(piece.file) {
                    Arc::new(compute())
                } else {
                    share.outline(piece.raw, compute)
                }
            })
            .collect();
        let mut names: FxHashMap<Dep, Meaning> = FxHashMap::default();
        names.reserve(outlines.len() * 2);
        for (id, (outline, piece)) in outlines.iter().zip(&pieces.pieces).enumerate() {
            for declared in &outline.declared {
                let meaning = Meaning {
                    id: DeclId(id as u32),
                    rank: declared.rank,
                    internal: declared.internal,
                    shared: !pieces.files.is_main(piece.file),
                };
                names
                    .entry((declared.space, declared.name))
                    .and_modify(|known| {
                        let internal = known.internal || meaning.internal;
                        let shared = known.shared || meaning.shared;
                        if meaning.rank > known.rank {
                            *known = meaning;
                        }
                        (known.internal, known.shared) = (internal, shared);
                    })
                    .or_insert(meaning);
            }
        }
        let keys = RefCell::new(vec![None; outlines.len()]);
        UnitScope {
            share,
            text,
            pieces,
            outlines,
            names,
            keys,
        }
    }

    /// All declarations in order.
    pub fn ids(&self) -> impl Iterator<Item = DeclId> + use<> {
        (0..self.outlines.len() as u32).map(DeclId)
    }

    pub fn piece(&self, id: DeclId) -> Option<&Piece> {
        self.pieces.pieces.get(id.0 as usize)
    }

    pub fn outline(&self, id: DeclId) -> Option<&Outline> {
        self.outlines.get(id.0 as usize).map(Arc::as_ref)
    }

    /// Whether the unit includes a header that only hosted programs have.
    pub fn is_hosted(&self) -> bool {
        self.pieces.files.are_hosted()
    }

    /// The file that a declaration starts in.
    pub fn file(&self, id: DeclId) -> Option<&SourceFile> {
        self.pieces.files.get(self.piece(id)?.file)
    }

    /// Whether other units can contain the declaration: it is not in the main source file.
    pub fn is_shared(&self, id: DeclId) -> bool {
        self.piece(id)
            .is_some_and(|piece| !self.pieces.files.is_main(piece.file))
    }

    pub fn pieces(&self) -> &Pieces<'a> {
        &self.pieces
    }

    fn find(&self, space: Space, name: NameId) -> Option<Meaning> {
        self.names.get(&(space, name)).copied()
    }

    /// The definition of a function, if the unit has one.
    pub fn function(&self, name: NameId) -> Option<DeclId> {
        let id = self.find(Space::Ordinary, name)?.id;
        (self.outline(id)?.form == Form::Function).then_some(id)
    }

    /// Whether the name is a function's, be it defined here or elsewhere.
    pub fn is_function(&self, name: NameId) -> bool {
        let meaning = self.find(Space::Ordinary, name);
        meaning.is_some_and(|meaning| {
            let declared = matches!(meaning.rank, rank::PROTOTYPE | rank::UNPROTOTYPED);
            declared || self.function(name).is_some()
        })
    }

    /// Whether the unit gives the function or object internal linkage.
    pub fn is_internal(&self, name: NameId) -> bool {
        self.find(Space::Ordinary, name)
            .is_some_and(|meaning| meaning.internal)
    }

    /// Whether a declaration of the function says that a definition elsewhere goes before this one.
    pub fn is_weak(&self, name: NameId) -> bool {
        self.find(Space::Weak, name).is_some()
    }

    /// Whether the name is an object of external linkage that some other unit defines.
    pub fn is_object_elsewhere(&self, name: NameId) -> bool {
        self.find(Space::Ordinary, name)
            .is_some_and(|meaning| meaning.rank == rank::EXTERN && !meaning.internal)
    }

    /// Whether the name is an object's that no declaration of the unit initialises.
    pub fn is_tentative(&self, name: NameId) -> bool {
        let meaning = self.find(Space::Ordinary, name);
        meaning.is_some_and(|meaning| meaning.rank == rank::TENTATIVE)
    }

    /// Whether the name is an object's, be it defined here or elsewhere.
    pub fn is_object(&self, name: NameId) -> bool {
        let meaning = self.find(Space::Ordinary, name);
        meaning.is_some_and(|meaning| {
            matches!(
                meaning.rank,
                rank::EXTERN | rank::TENTATIVE | rank::INITIALISED
            )
        })
    }

    /// Whether it is a file outside the tree that declares the function: the C library's header, or another library's.
    pub fn is_declared_outside(&self, name: NameId) -> bool {
        let meaning = self.find(Space::Ordinary, name);
        let declared = meaning.filter(|meaning| meaning.rank != rank::DEFINITION);
        let file = declared.and_then(|meaning| self.file(meaning.id));
        file.is_some_and(|file| !file.own)
    }

    /// Whether the name is an enumeration constant that a file outside the tree defines.
    pub fn is_enumerator_outside(&self, name: NameId) -> bool {
        let meaning = self.find(Space::Ordinary, name);
        meaning.is_some_and(|Meaning { id, rank, .. }| {
            rank == rank::DEFINITION
                && self
                    .outline(id)
                    .is_some_and(|outline| outline.form == Form::Declaration)
                && self.file(id).is_some_and(|file| !file.own)
        })
    }

    /// Whether a file that other units can include declares the name.
    pub fn is_announced(&self, name: NameId) -> bool {
        self.find(Space::Ordinary, name)
            .is_some_and(|meaning| meaning.shared)
    }

    /// Whether the name is a typedef name before this declaration.
    fn is_typedef_before(&self, name: NameId, id: DeclId) -> bool {
        self.find(Space::Typedef, name)
            .is_some_and(|meaning| meaning.id < id)
    }

    /// The key of what a declaration says to others: for a function definition, its head.
    fn head_key(&self, id: DeclId) -> DeclKey {
        if let Some(Some(key)) = self.keys.borrow().get(id.0 as usize) {
            return *key;
        }
        let key = match (self.piece(id), self.outline(id)) {
            (Some(piece), Some(outline)) => {
                let idents = match outline.form {
                    Form::Function => &outline.head_idents,
                    _ => &outline.idents,
                };
                self.key(id, piece.head, idents)
            }
            _ => DeclKey([0; 16]),
        };
        if let Some(slot) = self.keys.borrow_mut().get_mut(id.0 as usize) {
            *slot = Some(key);
        }
        key
    }

    /// The key of a whole declaration, body included.
    pub fn full_key(&self, id: DeclId) -> DeclKey {
        match (self.piece(id), self.outline(id)) {
            (Some(piece), Some(outline)) => self.key(id, piece.raw, &outline.idents),
            _ => DeclKey([0; 16]),
        }
    }

    fn key(&self, id: DeclId, content: u128, idents: &[NameId]) -> DeclKey {
        let mut hasher = Xxh3::new();
        hasher.update(&content.to_le_bytes());
        for name in idents {
            if self.is_typedef_before(*name, id) {
                hasher.update(&name.0.to_le_bytes());
            }
        }
        DeclKey(hasher.digest128().to_le_bytes())
    }

    /// Hash of a definition and of what these names mean here: equal hashes, equal bodies.
    pub fn body_key(&self, definition: DeclKey, deps: &[Dep]) -> BodyKey {
        let mut hasher = Xxh3::new();
        hasher.update(&[LOWERING_VERSION, u8::from(self.is_hosted())]);
        hasher.update(&definition.0);
        for &(space, name) in deps {
            hasher.update(&[space as u8]);
            hasher.update(&name.0.to_le_bytes());
            match self.find(space, name) {
                Some(_) if space == Space::Noreturn => hasher.update(&[2]),
                Some(meaning) => {
                    hasher.update(&self.head_key(meaning.id).0);
                    hasher.update(&[u8::from(meaning.internal)]);
                }
                None => hasher.update(&[1]),
            }
        }
        BodyKey(hasher.digest128().to_le_bytes())
    }

    /// Parses a function definition, body included. Not shared: it is lowered once and dropped.
    pub fn definition(&self, id: DeclId) -> Result<Declaration, LossReason> {
        self.parse(id, self.full_key(id), true)
    }

    /// The declaration as the parser reads it.
    #[cfg(test)]
    pub fn normalised(&self, id: DeclId) -> Result<Normalised, LossReason> {
        let normalised = self.normalise(id, true, false)?;
        Ok(normalised
            .map(|(normalised, _)| normalised)
            .unwrap_or_default())
    }

    /// The normalised text and the tokens it comes from. With `guess`, what a missing header would
    /// have said is guessed; `None` if there is nothing to guess.
    fn normalise(
        &self,
        id: DeclId,
        whole: bool,
        guess: bool,
    ) -> Result<Option<(Normalised, Vec<Token>)>, LossReason> {
        let Some(piece) = self.piece(id) else {
            return Err(LossReason {
                stage: Stage::Parse,
                message: "no such declaration".to_owned(),
            });
        };
        let end = match piece.body {
            Some(body) if !whole => body,
            _ => piece.end,
        };
        let tokens = tokens(self.text, &self.pieces, piece, end);
        let form = match piece.body {
            Some(body) if whole => normalise::Form::Definition { body },
            Some(_) => normalise::Form::Head,
            None => normalise::Form::Declaration,
        };
        let typedef = |name: &[u8]| self.is_typedef_before(NameId::of(name), id);
        let guessed = match guess {
            true => normalise::guess(self.text, &tokens, form, &typedef),
            false => normalise::types_of_pointers(self.text, &tokens, form, &typedef),
        };
        if guess && guessed == Guess::default() {
            return Ok(None);
        }
        let setting = normalise::Setting {
            pack: piece.pack,
            dialect: self.pieces.dialect,
        };
        let normalised =
            normalise::normalise(self.text, &tokens, form, &typedef, &guessed, setting)?;
        Ok(Some((normalised, tokens)))
    }

    fn parse(&self, id: DeclId, key: DeclKey, whole: bool) -> Result<Declaration, LossReason> {
        let files = |file| {
            let file = self.pieces.files.get(file);
            file.map_or(String::new(), |file: &SourceFile| file.name.clone())
        };
        let attempt = |guess| match self.normalise(id, whole, guess)? {
            Some((normalised, tokens)) => {
                let model = self.pieces.dialect.model;
                parse::parse(key, model, normalised, &tokens, &files).map(Some)
            }
            None => Ok(None),
        };
        let reason = match attempt(false) {
            Ok(Some(declaration)) => return Ok(declaration),
            Ok(None) => LossReason {
                stage: Stage::Parse,
                message: "nothing to parse".to_owned(),
            },
            Err(reason) => reason,
        };
        // What the second attempt says of its guesses helps nobody.
        attempt(true).ok().flatten().ok_or(reason)
    }

    fn tree(&self, id: DeclId) -> Tree {
        let key = self.head_key(id);
        let weight = self
            .piece(id)
            .map_or(0, |piece| (piece.end - piece.start) as usize);
        self.share
            .tree(key, weight, || self.parse(id, key, false).map(Arc::new))
    }
}

/// Part of every body's key: changes when lowering gives other bodies for the same source.
const LOWERING_VERSION: u8 = 10;

fn tokens(text: &[u8], pieces: &Pieces<'_>, piece: &Piece, end: u32) -> Vec<Token> {
    lex::tokens(
        text,
        piece.start as usize,
        end as usize,
        piece.place(),
        &mut |raw| pieces.files.find(raw).unwrap_or(0),
    )
}

impl From<TagKind> for Space {
    fn from(kind: TagKind) -> Space {
        match kind {
            TagKind::Struct => Space::Struct,
            TagKind::Union => Space::Union,
            TagKind::Enum => Space::Enum,
        }
    }
}

/// Look-up in a unit that notes every name asked for, so that what was lowered is known to depend
/// on those names' meanings and on nothing else.
pub struct Recorder<'a> {
    unit: &'a UnitScope<'a>,
    deps: RefCell<FxHashSet<Dep>>,
}

impl<'a> Recorder<'a> {
    pub fn new(unit: &'a UnitScope<'a>) -> Recorder<'a> {
        Recorder {
            unit,
            deps: RefCell::default(),
        }
    }

    /// The names that were asked for, sorted.
    pub fn deps(self) -> Box<[Dep]> {
        let mut deps: Vec<Dep> = self.deps.into_inner().into_iter().collect();
        deps.sort_unstable();
        deps.into_boxed_slice()
    }

    fn look_up(&self, space: Space, name: &str) -> Option<DeclId> {
        let dep = (space, NameId::of(name.as_bytes()));
        self.deps.borrow_mut().insert(dep);
        self.unit.find(dep.0, dep.1).map(|meaning| meaning.id)
    }
}

impl Scope for Recorder<'_> {
    fn typedef(&self, name: &str) -> Option<DeclId> {
        self.look_up(Space::Typedef, name)
    }

    fn tag(&self, kind: TagKind, name: &str) -> Option<DeclId> {
        self.look_up(kind.into(), name)
    }

    fn ordinary(&self, name: &str) -> Option<DeclId> {
        self.look_up(Space::Ordinary, name)
    }

    fn noreturn(&self, name: &str) -> bool {
        self.look_up(Space::Noreturn, name).is_some()
    }

    fn internal(&self, name: &str) -> bool {
        self.look_up(Space::Ordinary, name);
        self.unit.is_internal(NameId::of(name.as_bytes()))
    }

    fn declaration(&self, id: DeclId) -> Result<Arc<Declaration>, LossReason> {
        self.unit.tree(id)
    }
}

impl Scope for UnitScope<'_> {
    fn typedef(&self, name: &str) -> Option<DeclId> {
        let name = NameId::of(name.as_bytes());
        self.find(Space::Typedef, name).map(|meaning| meaning.id)
    }

    fn tag(&self, kind: TagKind, name: &str) -> Option<DeclId> {
        let name = NameId::of(name.as_bytes());
        self.find(kind.into(), name).map(|meaning| meaning.id)
    }

    fn ordinary(&self, name: &str) -> Option<DeclId> {
        let name = NameId::of(name.as_bytes());
        self.find(Space::Ordinary, name).map(|meaning| meaning.id)
    }

    fn noreturn(&self, name: &str) -> bool {
        let name = NameId::of(name.as_bytes());
        self.find(Space::Noreturn, name).is_some()
    }

    fn internal(&self, name: &str) -> bool {
        self.is_internal(NameId::of(name.as_bytes()))
    }

    fn declaration(&self, id: DeclId) -> Result<Arc<Declaration>, LossReason> {
        self.tree(id)
    }
}
