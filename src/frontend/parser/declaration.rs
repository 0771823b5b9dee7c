//! External declarations, specifiers, records and enumerations (C11 6.7.1 to 6.7.5, 6.9).

use lang_c::ast::{
    Attribute, Declaration, DeclarationSpecifier, EnumType, Enumerator, Extension,
    ExternalDeclaration, FunctionDefinition, FunctionSpecifier, Identifier, InitDeclarator,
    SpecifierQualifier, StorageClassSpecifier, StructDeclaration, StructDeclarator, StructField,
    StructKind, StructType, TS18661FloatFormat, TS18661FloatType, TypeOf, TypeQualifier,
    TypeSpecifier,
};
use lang_c::span::Node;

use super::declarator::{self, Naming};
use super::token::Tag;
use super::{Meaning, Parsed, Parser};

/// Specifiers of a declaration, and what they say about what follows.
pub(super) struct Specifiers {
    pub nodes: Vec<Node<DeclarationSpecifier>>,
    /// Names that are declared are types.
    typedef: bool,
}

/// One specifier of either kind of list.
enum Specifier {
    Storage(Node<StorageClassSpecifier>),
    Type(Node<TypeSpecifier>),
    Qualifier(Node<TypeQualifier>),
    Function(Node<FunctionSpecifier>),
    Attributes(Vec<Node<Extension>>),
}

/// Whether another type specifier can follow those that were read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Typed {
    No,
    /// By `int`, `unsigned` and the like, which combine.
    Words,
    /// By a record, `void`, a typedef name.
    Whole,
}

impl<'t> Parser<'t> {
    pub(super) fn external_declaration(&mut self) -> Parsed<Node<ExternalDeclaration>> {
        let start = self.start();
        let specifiers = self.specifiers()?;
        if self.tag() == Tag::Semicolon {
            let declaration = self.declarators(start, specifiers, None)?;
            return Ok(self.node(start, ExternalDeclaration::Declaration(declaration)));
        }
        let declarator = self.declarator(Naming::Named)?;
        let defines = self.tag() == Tag::BraceOpen
            || declarator::is_function(&declarator) && self.starts_declaration();
        // `f(int) __attribute__((noreturn));` starts like the parameters of an old-style definition.
        if !defines || self.tag() == Tag::Attribute {
            let declaration = self.declarators(start, specifiers, Some(declarator))?;
            return Ok(self.node(start, ExternalDeclaration::Declaration(declaration)));
        }
        let mark = self.names.enter();
        for name in declarator::parameters(&declarator) {
            self.hide(name);
        }
        let mut declarations = Vec::new();
        while self.tag() != Tag::BraceOpen {
            declarations.push(self.declaration()?);
        }
        let at = self.start();
        let statement = self.compound()?;
        let statement = Node::new(statement.node, self.span(at));
        self.names.leave(mark);
        let definition = FunctionDefinition {
            specifiers: specifiers.nodes,
            declarator,
            declarations,
            statement,
        };
        let definition = self.node(start, definition);
        Ok(self.node(start, ExternalDeclaration::FunctionDefinition(definition)))
    }

    /// Up to and with its `;`.
    pub(super) fn declaration(&mut self) -> Parsed<Node<Declaration>> {
        let start = self.start();
        let specifiers = self.specifiers()?;
        self.declarators(start, specifiers, None)
    }

    /// The declarators of a declaration, of which the first may have been read.
    fn declarators(
        &mut self,
        start: usize,
        specifiers: Specifiers,
        first: Option<Node<lang_c::ast::Declarator>>,
    ) -> Parsed<Node<Declaration>> {
        let mut declarators = Vec::new();
        let mut next = first;
        if next.is_some() || self.tag() != Tag::Semicolon {
            loop {
                let (at, mut declarator) = match next.take() {
                    Some(declarator) => (declarator.span.start, declarator),
                    None => (self.start(), self.declarator(Naming::Named)?),
                };
                if let Some(name) = declarator::name(&declarator) {
                    match specifiers.typedef {
                        true => self.declare_type(name),
                        false => self.hide(name),
                    }
                }
                self.label_and_attributes(&mut declarator.node.extensions)?;
                let assign = self.start();
                let initializer = match self.take(Tag::Assign) {
                    true => Some(self.initializer()?.node),
                    false => None,
                };
                let initializer = initializer.map(|node| self.node(assign, node));
                let declared = InitDeclarator {
                    declarator,
                    initializer,
                };
                declarators.push(self.node(at, declared));
                if !self.take(Tag::Comma) {
                    break;
                }
            }
        }
        self.expect(Tag::Semicolon)?;
        let declaration = Declaration {
            specifiers: specifiers.nodes,
            declarators,
        };
        Ok(self.node(start, declaration))
    }

    /// Declares a name that is no type.
    pub(super) fn hide(&mut self, identifier: &Node<Identifier>) {
        let text = self.text;
        if let Some(name) = text.get(identifier.span.start..identifier.span.end) {
            self.names.declare(name, Meaning::Other);
        }
    }

    fn declare_type(&mut self, identifier: &Node<Identifier>) {
        let text = self.text;
        if let Some(name) = text.get(identifier.span.start..identifier.span.end) {
            self.names.declare(name, Meaning::Type);
        }
    }

    /// A type name starts `ahead`.
    pub(super) fn starts_type(&self, ahead: usize) -> bool {
        let tag = self.token(ahead).tag;
        is_type_word(tag)
            || matches!(
                tag,
                Tag::Const | Tag::Volatile | Tag::Restrict | Tag::Attribute
            )
            || self.is_type_name(ahead)
    }

    /// A declaration starts here.
    pub(super) fn starts_declaration(&self) -> bool {
        match self.tag() {
            // A typedef name that is used as one: `T x`, `T *x`, `T (x)`, `T;`.
            Tag::Identifier => {
                let next = self.token(1).tag;
                self.is_type_name(0)
                    && (matches!(
                        next,
                        Tag::Identifier | Tag::Star | Tag::RoundOpen | Tag::Semicolon
                    ) || is_specifier_word(next))
            }
            tag => is_specifier_word(tag),
        }
    }

    /// Specifiers of a declaration or parameter, of which one is a type.
    pub(super) fn specifiers(&mut self) -> Parsed<Specifiers> {
        let mut specifiers = Specifiers {
            nodes: Vec::new(),
            typedef: false,
        };
        let mut typed = Typed::No;
        loop {
            let start = self.start();
            let Some(specifier) = self.specifier(&mut typed)? else {
                break;
            };
            let specifier = match specifier {
                Specifier::Storage(node) => {
                    specifiers.typedef |= node.node == StorageClassSpecifier::Typedef;
                    DeclarationSpecifier::StorageClass(node)
                }
                Specifier::Type(node) => DeclarationSpecifier::TypeSpecifier(node),
                Specifier::Qualifier(node) => DeclarationSpecifier::TypeQualifier(node),
                Specifier::Function(node) => DeclarationSpecifier::Function(node),
                Specifier::Attributes(nodes) => DeclarationSpecifier::Extension(nodes),
            };
            specifiers.nodes.push(self.node(start, specifier));
        }
        match typed {
            Typed::No => self.unexpected(),
            _ => Ok(specifiers),
        }
    }

    /// Specifiers of a member or type name, of which one is a type.
    pub(super) fn qualifiers(&mut self) -> Parsed<Vec<Node<SpecifierQualifier>>> {
        let mut nodes = Vec::new();
        let mut typed = Typed::No;
        loop {
            let start = self.start();
            let Some(specifier) = self.specifier(&mut typed)? else {
                break;
            };
            let specifier = match specifier {
                Specifier::Type(node) => SpecifierQualifier::TypeSpecifier(node),
                Specifier::Qualifier(node) => SpecifierQualifier::TypeQualifier(node),
                Specifier::Attributes(nodes) => SpecifierQualifier::Extension(nodes),
                Specifier::Storage(_) | Specifier::Function(_) => return self.unexpected(),
            };
            nodes.push(self.node(start, specifier));
        }
        match typed {
            Typed::No => self.unexpected(),
            _ => Ok(nodes),
        }
    }

    /// The next specifier, if one stands here.
    fn specifier(&mut self, typed: &mut Typed) -> Parsed<Option<Specifier>> {
        let storage = match self.tag() {
            Tag::Typedef => Some(StorageClassSpecifier::Typedef),
            Tag::Extern => Some(StorageClassSpecifier::Extern),
            Tag::Static => Some(StorageClassSpecifier::Static),
            Tag::ThreadLocal => Some(StorageClassSpecifier::ThreadLocal),
            Tag::Auto => Some(StorageClassSpecifier::Auto),
            Tag::Register => Some(StorageClassSpecifier::Register),
            _ => None,
        };
        if let Some(storage) = storage {
            return Ok(Some(Specifier::Storage(self.this(storage))));
        }
        if let Some(qualifier) = self.qualifier() {
            return Ok(Some(Specifier::Qualifier(qualifier)));
        }
        let function = match self.tag() {
            Tag::Inline => Some(FunctionSpecifier::Inline),
            Tag::Noreturn => Some(FunctionSpecifier::Noreturn),
            _ => None,
        };
        if let Some(function) = function {
            return Ok(Some(Specifier::Function(self.this(function))));
        }
        if self.tag() == Tag::Attribute {
            return Ok(Some(Specifier::Attributes(self.attribute_specifier()?)));
        }
        let start = self.start();
        let Some((specifier, now)) = self.type_specifier(*typed)? else {
            return Ok(None);
        };
        *typed = now;
        Ok(Some(Specifier::Type(self.node(start, specifier))))
    }

    /// `const`, `volatile`, `restrict` or `_Atomic`.
    pub(super) fn qualifier(&mut self) -> Option<Node<TypeQualifier>> {
        let qualifier = match self.tag() {
            Tag::Const => TypeQualifier::Const,
            Tag::Volatile => TypeQualifier::Volatile,
            Tag::Restrict => TypeQualifier::Restrict,
            Tag::Atomic if self.token(1).tag != Tag::RoundOpen => TypeQualifier::Atomic,
            _ => return None,
        };
        Some(self.this(qualifier))
    }

    fn type_specifier(&mut self, typed: Typed) -> Parsed<Option<(TypeSpecifier, Typed)>> {
        if typed != Typed::Whole
            && let Some(word) = arithmetic(self.tag())
        {
            self.advance();
            return Ok(Some((word, Typed::Words)));
        }
        if self.tag() == Tag::Typeof && typed != Typed::Whole {
            self.advance();
            self.expect(Tag::RoundOpen)?;
            let start = self.start();
            let of = match self.starts_type(0) {
                true => TypeOf::Type(self.type_name()?),
                false => TypeOf::Expression(self.expression()?),
            };
            let of = self.node(start, of);
            self.expect(Tag::RoundClose)?;
            return Ok(Some((TypeSpecifier::TypeOf(of), Typed::Words)));
        }
        if typed != Typed::No {
            return Ok(None);
        }
        let specifier = match self.tag() {
            Tag::Void => {
                self.advance();
                TypeSpecifier::Void
            }
            Tag::Bool => {
                self.advance();
                TypeSpecifier::Bool
            }
            Tag::Atomic => {
                self.advance();
                self.expect(Tag::RoundOpen)?;
                let name = self.type_name()?;
                self.expect(Tag::RoundClose)?;
                TypeSpecifier::Atomic(name)
            }
            Tag::Struct | Tag::Union => {
                let start = self.start();
                let record = self.record()?;
                TypeSpecifier::Struct(self.node(start, record))
            }
            Tag::Enum => {
                let start = self.start();
                let enumeration = self.enumeration()?;
                TypeSpecifier::Enum(self.node(start, enumeration))
            }
            Tag::Identifier if self.is_type_name(0) => {
                TypeSpecifier::TypedefName(self.identifier()?)
            }
            _ => return Ok(None),
        };
        Ok(Some((specifier, Typed::Whole)))
    }

    fn record(&mut self) -> Parsed<StructType> {
        let kind = match self.tag() {
            Tag::Struct => StructKind::Struct,
            _ => StructKind::Union,
        };
        let kind = self.this(kind);
        let identifier = self.tag_name()?;
        if !self.take(Tag::BraceOpen) {
            return match identifier.is_some() {
                true => Ok(StructType {
                    kind,
                    identifier,
                    declarations: None,
                }),
                false => self.unexpected(),
            };
        }
        let mut declarations = Vec::new();
        while !self.take(Tag::BraceClose) {
            let start = self.start();
            let field = self.members()?;
            let field = StructDeclaration::Field(self.node(start, field));
            declarations.push(self.node(start, field));
            while self.take(Tag::Semicolon) {}
        }
        Ok(StructType {
            kind,
            identifier,
            declarations: Some(declarations),
        })
    }

    fn tag_name(&mut self) -> Parsed<Option<Node<Identifier>>> {
        match self.tag() {
            Tag::Identifier => self.identifier().map(Some),
            _ => Ok(None),
        }
    }

    fn members(&mut self) -> Parsed<StructField> {
        let specifiers = self.qualifiers()?;
        let declarators = match self.tag() {
            Tag::Semicolon => Vec::new(),
            _ => self.list(|parser| {
                let start = parser.start();
                let member = parser.member()?;
                Ok(parser.node(start, member))
            })?,
        };
        self.expect(Tag::Semicolon)?;
        Ok(StructField {
            specifiers,
            declarators,
        })
    }

    fn member(&mut self) -> Parsed<StructDeclarator> {
        let mut declarator = match self.tag() {
            Tag::Colon => None,
            _ => Some(self.declarator(Naming::Named)?),
        };
        let bit_width = match self.take(Tag::Colon) {
            true => Some(Box::new(self.conditional()?)),
            false => None,
        };
        let at = self.start();
        let attributes = self.attributes()?;
        if let Some(declarator) = &mut declarator {
            declarator.node.extensions.extend(attributes);
        } else if !attributes.is_empty() {
            // Of an unnamed bit-field.
            let nameless = lang_c::ast::Declarator {
                kind: self.node(at, lang_c::ast::DeclaratorKind::Abstract),
                derived: Vec::new(),
                extensions: attributes,
            };
            declarator = Some(self.node(at, nameless));
        }
        Ok(StructDeclarator {
            declarator,
            bit_width,
        })
    }

    fn enumeration(&mut self) -> Parsed<EnumType> {
        self.advance();
        let identifier = self.tag_name()?;
        let mut enumerators = Vec::new();
        if self.take(Tag::BraceOpen) {
            while self.tag() != Tag::BraceClose {
                let start = self.start();
                let identifier = self.identifier()?;
                self.hide(&identifier);
                let extensions = self.attributes()?;
                let expression = match self.take(Tag::Assign) {
                    true => Some(Box::new(self.conditional()?)),
                    false => None,
                };
                let enumerator = Enumerator {
                    identifier,
                    expression,
                    extensions,
                };
                enumerators.push(self.node(start, enumerator));
                if !self.take(Tag::Comma) {
                    break;
                }
            }
            self.expect(Tag::BraceClose)?;
        } else if identifier.is_none() {
            return self.unexpected();
        }
        Ok(EnumType {
            identifier,
            enumerators,
        })
    }

    /// Any number of attribute specifiers.
    pub(super) fn attributes(&mut self) -> Parsed<Vec<Node<Extension>>> {
        let mut all = Vec::new();
        while self.tag() == Tag::Attribute {
            all.append(&mut self.attribute_specifier()?);
        }
        Ok(all)
    }

    /// What may stand behind a declarator: `__asm__("symbol")` and attributes.
    fn label_and_attributes(&mut self, extensions: &mut Vec<Node<Extension>>) -> Parsed<()> {
        if self.tag() == Tag::Asm {
            let start = self.start();
            self.advance();
            self.expect(Tag::RoundOpen)?;
            let symbol = self.string()?;
            self.expect(Tag::RoundClose)?;
            extensions.push(self.node(start, Extension::AsmLabel(symbol)));
        }
        extensions.append(&mut self.attributes()?);
        Ok(())
    }

    pub(super) fn attribute_specifier(&mut self) -> Parsed<Vec<Node<Extension>>> {
        self.expect(Tag::Attribute)?;
        self.expect(Tag::RoundOpen)?;
        self.expect(Tag::RoundOpen)?;
        let attributes = match self.tag() {
            Tag::RoundClose => Vec::new(),
            _ => self.list(|parser| {
                let start = parser.start();
                // Keywords can be names here.
                let name = parser.spelling(0);
                if !name.starts_with(|c: char| c == '_' || c.is_ascii_alphabetic()) {
                    return parser.unexpected();
                }
                let name = parser.this(name.to_owned());
                let mut arguments = Vec::new();
                if parser.take(Tag::RoundOpen) {
                    if parser.tag() != Tag::RoundClose {
                        arguments = parser.list(Self::assignment)?;
                    }
                    parser.expect(Tag::RoundClose)?;
                }
                let attribute = Extension::Attribute(Attribute { name, arguments });
                Ok(parser.node(start, attribute))
            })?,
        };
        self.expect(Tag::RoundClose)?;
        self.expect(Tag::RoundClose)?;
        Ok(attributes)
    }
}

/// A word of an arithmetic type, which others may stand beside.
fn arithmetic(tag: Tag) -> Option<TypeSpecifier> {
    use TS18661FloatFormat::{BinaryExtended, BinaryInterchange, DecimalInterchange};
    let float = |format, width| TypeSpecifier::TS18661Float(TS18661FloatType { format, width });
    Some(match tag {
        Tag::Char => TypeSpecifier::Char,
        Tag::Short => TypeSpecifier::Short,
        Tag::Int => TypeSpecifier::Int,
        Tag::Long => TypeSpecifier::Long,
        Tag::Float => TypeSpecifier::Float,
        Tag::Double => TypeSpecifier::Double,
        Tag::Signed => TypeSpecifier::Signed,
        Tag::Unsigned => TypeSpecifier::Unsigned,
        Tag::Complex => TypeSpecifier::Complex,
        Tag::Float16 => float(BinaryInterchange, 16),
        Tag::Float32 => float(BinaryInterchange, 32),
        Tag::Float32x => float(BinaryExtended, 32),
        Tag::Float64 => float(BinaryInterchange, 64),
        Tag::Float64x => float(BinaryExtended, 64),
        Tag::Float128 => float(BinaryInterchange, 128),
        Tag::Float128x => float(BinaryExtended, 128),
        Tag::Decimal32 => float(DecimalInterchange, 32),
        Tag::Decimal64 => float(DecimalInterchange, 64),
        Tag::Decimal128 => float(DecimalInterchange, 128),
        _ => return None,
    })
}

fn is_type_word(tag: Tag) -> bool {
    arithmetic(tag).is_some()
        || matches!(
            tag,
            Tag::Void
                | Tag::Bool
                | Tag::Struct
                | Tag::Union
                | Tag::Enum
                | Tag::Typeof
                | Tag::Atomic
        )
}

fn is_specifier_word(tag: Tag) -> bool {
    is_type_word(tag)
        || matches!(
            tag,
            Tag::Typedef
                | Tag::Extern
                | Tag::Static
                | Tag::ThreadLocal
                | Tag::Auto
                | Tag::Register
                | Tag::Const
                | Tag::Volatile
                | Tag::Restrict
                | Tag::Inline
                | Tag::Noreturn
                | Tag::Attribute
        )
}
