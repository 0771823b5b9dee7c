//! Declarators and type names (C11 6.7.6, 6.7.7).

use lang_c::ast::{
    ArrayDeclarator, ArraySize, Declarator, DeclaratorKind, DerivedDeclarator, Ellipsis,
    FunctionDeclarator, Identifier, ParameterDeclaration, PointerQualifier, TypeName,
};
use lang_c::span::{Node, Span};

use super::token::Tag;
use super::{Parsed, Parser};

/// Whether a declarator has a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Naming {
    Named,
    /// In a type name.
    Abstract,
    /// In a parameter.
    Either,
}

impl Parser<'_> {
    pub(super) fn type_name(&mut self) -> Parsed<Node<TypeName>> {
        let start = self.start();
        let specifiers = self.qualifiers()?;
        let declarator = match self.starts_abstract() {
            true => Some(self.declarator(Naming::Abstract)?),
            false => None,
        };
        let type_name = TypeName {
            specifiers,
            declarator,
        };
        Ok(self.node(start, type_name))
    }

    fn starts_abstract(&self) -> bool {
        matches!(self.tag(), Tag::Star | Tag::RoundOpen | Tag::SquareOpen)
    }

    pub(super) fn declarator(&mut self, naming: Naming) -> Parsed<Node<Declarator>> {
        let start = self.start();
        let extensions = self.attributes()?;
        let mut derived = Vec::new();
        while self.tag() == Tag::Star {
            derived.push(self.pointer()?);
        }
        let at = self.start();
        let named = naming != Naming::Abstract && self.tag() == Tag::Identifier;
        let kind = if named {
            DeclaratorKind::Identifier(self.identifier()?)
        } else if self.tag() == Tag::RoundOpen && (naming == Naming::Named || self.is_nested()) {
            self.advance();
            let inner = self.declarator(naming)?;
            self.expect(Tag::RoundClose)?;
            DeclaratorKind::Declarator(Box::new(inner))
        } else if naming == Naming::Named {
            return self.unexpected();
        } else {
            DeclaratorKind::Abstract
        };
        let kind = match kind {
            DeclaratorKind::Abstract => Node::new(kind, Span::span(at, at)),
            _ => self.node(at, kind),
        };
        // Of an abstract one with a pointer in brackets, say, the name may be missing all the way in.
        let is_named = name_of(&kind.node).is_some();
        loop {
            let start = self.start();
            let suffix = match self.tag() {
                Tag::SquareOpen => DerivedDeclarator::Array(self.array()?),
                Tag::RoundOpen => self.parameters(is_named)?,
                _ => break,
            };
            derived.push(self.node(start, suffix));
        }
        let declarator = Declarator {
            kind,
            derived,
            extensions,
        };
        Ok(self.node(start, declarator))
    }

    /// Whether the bracket here holds a declarator, where it could hold parameters.
    fn is_nested(&self) -> bool {
        match self.token(1).tag {
            Tag::Star | Tag::RoundOpen | Tag::SquareOpen => true,
            Tag::Identifier => !self.is_type_name(1),
            // `(__attribute__((…)) *name)`, not `(__attribute__((…)) int)`.
            Tag::Attribute => {
                let mut ahead = 1;
                while self.token(ahead).tag == Tag::Attribute {
                    ahead = self.past_brackets(ahead + 1);
                }
                !self.starts_type(ahead)
            }
            _ => false,
        }
    }

    /// How far ahead the bracket that opens `ahead` has been closed.
    fn past_brackets(&self, ahead: usize) -> usize {
        let mut depth = 0usize;
        let mut ahead = ahead;
        loop {
            match self.token(ahead).tag {
                Tag::RoundOpen => depth += 1,
                Tag::RoundClose => depth = depth.saturating_sub(1),
                Tag::End => return ahead,
                _ => {}
            }
            ahead += 1;
            if depth == 0 {
                return ahead;
            }
        }
    }

    fn pointer(&mut self) -> Parsed<Node<DerivedDeclarator>> {
        let start = self.start();
        self.advance();
        let mut qualifiers = Vec::new();
        loop {
            let start = self.start();
            let qualifier = if let Some(qualifier) = self.qualifier() {
                PointerQualifier::TypeQualifier(qualifier)
            } else if self.tag() == Tag::Attribute {
                PointerQualifier::Extension(self.attribute_specifier()?)
            } else {
                break;
            };
            qualifiers.push(self.node(start, qualifier));
        }
        Ok(self.node(start, DerivedDeclarator::Pointer(qualifiers)))
    }

    fn array(&mut self) -> Parsed<Node<ArrayDeclarator>> {
        self.advance();
        let start = self.start();
        let mut qualifiers = Vec::new();
        let mut minimum = false;
        loop {
            if self.take(Tag::Static) {
                minimum = true;
            } else if let Some(qualifier) = self.qualifier() {
                qualifiers.push(qualifier);
            } else {
                break;
            }
        }
        let size = match self.tag() {
            Tag::SquareClose => ArraySize::Unknown,
            Tag::Star if self.token(1).tag == Tag::SquareClose => {
                self.advance();
                ArraySize::VariableUnknown
            }
            _ => {
                let length = Box::new(self.assignment()?);
                match minimum {
                    true => ArraySize::StaticExpression(length),
                    false => ArraySize::VariableExpression(length),
                }
            }
        };
        self.expect(Tag::SquareClose)?;
        Ok(self.node(start, ArrayDeclarator { qualifiers, size }))
    }

    /// Parameters with their brackets, or the names of an old-style definition's.
    fn parameters(&mut self, named: bool) -> Parsed<DerivedDeclarator> {
        self.advance();
        let start = self.start();
        if self.tag() == Tag::RoundClose && !named {
            let none = FunctionDeclarator {
                parameters: Vec::new(),
                ellipsis: Ellipsis::None,
            };
            let none = self.node(start, none);
            self.advance();
            return Ok(DerivedDeclarator::Function(none));
        }
        if !self.starts_parameter() {
            let names = match self.tag() {
                Tag::RoundClose => Vec::new(),
                _ => self.list(Self::identifier)?,
            };
            self.expect(Tag::RoundClose)?;
            return Ok(DerivedDeclarator::KRFunction(names));
        }
        let mark = self.names.enter();
        let mut parameters = vec![self.parameter()?];
        let mut ellipsis = Ellipsis::None;
        while self.take(Tag::Comma) {
            if self.take(Tag::Ellipsis) {
                ellipsis = Ellipsis::Some;
                break;
            }
            parameters.push(self.parameter()?);
        }
        self.names.leave(mark);
        let function = FunctionDeclarator {
            parameters,
            ellipsis,
        };
        let function = self.node(start, function);
        self.expect(Tag::RoundClose)?;
        Ok(DerivedDeclarator::Function(function))
    }

    fn starts_parameter(&self) -> bool {
        matches!(self.tag(), Tag::Register) || self.starts_type(0)
    }

    fn parameter(&mut self) -> Parsed<Node<ParameterDeclaration>> {
        let start = self.start();
        let specifiers = self.specifiers()?.nodes;
        let declares = self.starts_abstract() || self.tag() == Tag::Identifier;
        let declarator = match declares {
            true => Some(self.declarator(Naming::Either)?),
            false => None,
        };
        if let Some(name) = declarator.as_ref().and_then(name) {
            self.hide(name);
        }
        let extensions = self.attributes()?;
        let parameter = ParameterDeclaration {
            specifiers,
            declarator,
            extensions,
        };
        Ok(self.node(start, parameter))
    }
}

/// The name that a declarator declares.
pub(super) fn name(declarator: &Node<Declarator>) -> Option<&Node<Identifier>> {
    name_of(&declarator.node.kind.node)
}

fn name_of(kind: &DeclaratorKind) -> Option<&Node<Identifier>> {
    match kind {
        DeclaratorKind::Identifier(name) => Some(name),
        DeclaratorKind::Declarator(inner) => name(inner),
        DeclaratorKind::Abstract => None,
    }
}

/// What the declared name is first of all: the derivation next to it.
fn nearest(declarator: &Declarator) -> Option<&DerivedDeclarator> {
    if let DeclaratorKind::Declarator(inner) = &declarator.kind.node
        && let Some(derived) = nearest(&inner.node)
    {
        return Some(derived);
    }
    let is_suffix = |derived: &&DerivedDeclarator| {
        !matches!(
            derived,
            DerivedDeclarator::Pointer(_) | DerivedDeclarator::Block(_)
        )
    };
    let derived = || declarator.derived.iter().map(|derived| &derived.node);
    derived().find(is_suffix).or_else(|| derived().next_back())
}

/// Whether the declarator declares a function.
pub(super) fn is_function(declarator: &Node<Declarator>) -> bool {
    matches!(
        nearest(&declarator.node),
        Some(DerivedDeclarator::Function(_) | DerivedDeclarator::KRFunction(_))
    )
}

/// The names of a function's parameters.
pub(super) fn parameters(declarator: &Node<Declarator>) -> Vec<&Node<Identifier>> {
    match nearest(&declarator.node) {
        Some(DerivedDeclarator::Function(function)) => {
            let declarators = function.node.parameters.iter();
            let declarators = declarators.filter_map(|node| node.node.declarator.as_ref());
            declarators.filter_map(name).collect()
        }
        Some(DerivedDeclarator::KRFunction(names)) => names.iter().collect(),
        _ => Vec::new(),
    }
}
