//! Types.

use tf_types::{DType, Storage, Type, TypeKind};

use super::Parser;
use super::alias::Alias;
use super::cursor::{Failed, Parsed};
use super::lexer::{Kind, Token};
use crate::print::print_type;

/// A type has at most that many tensors, counted as often as it mentions them.
const LARGEST_TYPE: u32 = 1 << 16;

impl<'c> Parser<'_, '_, 'c> {
    pub fn ty(&mut self) -> Parsed<Type<'c>> {
        match self.token.kind {
            Kind::Bang => {
                let token = self.advance();
                match self.alias(token)? {
                    Alias::Type(ty) => Ok(ty),
                    other => Err(self.wrong_alias(token, other, "a type")),
                }
            }
            Kind::Punct(b'(') => self.nested(Self::callable),
            Kind::Word => match self.text_of(self.token) {
                "tensor" => self.tensor(),
                "tuple" => {
                    let token = self.advance();
                    let fields = self.nested(|p| p.list([b'<', b'>'], Self::ty))?;
                    let ty = self.cx().tuple(&fields);
                    self.measure(token, ty)
                }
                "unit" => {
                    self.advance();
                    Ok(self.cx().unit())
                }
                name => match DType::from_name(name) {
                    Ok(dtype) => {
                        self.advance();
                        Ok(self.cx().scalar(dtype))
                    }
                    Err(_) => Err(self.expected("a type")),
                },
            },
            _ => Err(self.expected("a type")),
        }
    }

    pub fn type_list(&mut self) -> Parsed<Vec<Type<'c>>> {
        self.list([b'(', b')'], Self::ty)
    }

    /// [`Parser::type_list`] into [`Parser::types`].
    pub fn operand_types(&mut self) -> Parsed<()> {
        let mut types = std::mem::take(&mut self.types);
        types.clear();
        let read = self.list([b'(', b')'], |p| p.ty().map(|ty| types.push(ty)));
        self.types = types;
        read.map(drop)
    }

    fn callable(&mut self) -> Parsed<Type<'c>> {
        let token = self.token;
        let params = self.type_list()?;
        self.arrow()?;
        let result = self.ty()?;
        let ty = self.cx().callable(&params, result);
        self.measure(token, ty)
    }

    pub fn arrow(&mut self) -> Parsed<()> {
        self.expect_kind(Kind::Arrow, "`->`").map(drop)
    }

    /// Refuses a type whose parts are too many: sharing makes it small in memory, but not for those who walk it.
    fn measure(&mut self, token: Token, ty: Type<'c>) -> Parsed<Type<'c>> {
        let size = |part: &Type<'c>| self.sizes.get(part).copied().unwrap_or(1);
        let total = match *ty.data() {
            TypeKind::Tuple(fields) => fields.iter().map(size).fold(1, u32::saturating_add),
            TypeKind::Callable { params, result } => params.iter().map(size).fold(size(&result), u32::saturating_add),
            _ => 1,
        };
        if total > LARGEST_TYPE {
            return Err(self.error_at(token, format!("the type has more than {LARGEST_TYPE} parts")));
        }
        self.sizes.insert(ty, total);
        Ok(ty)
    }

    /// `tensor<4x[#S]xbf16, layout, storage>`: the shape is read by characters, as `4x` is no token.
    fn tensor(&mut self) -> Parsed<Type<'c>> {
        let start = self.token.start;
        if let Some((text, ty)) = self.recent_types.find(&self.text[start..], |_| true) {
            self.skip(text.len(), b'>');
            return Ok(ty);
        }
        let ty = self.new_tensor()?;
        self.recent_types.put(&self.text[start..self.previous.end], ty);
        Ok(ty)
    }

    fn new_tensor(&mut self) -> Parsed<Type<'c>> {
        self.advance();
        if !self.at(b'<') {
            return Err(self.expected("`<`"));
        }
        let mut shape = Vec::new();
        loop {
            while let Some(digits) = self.lexer.shape_extent() {
                match digits.parse() {
                    Ok(extent) => shape.push(self.cx().dim(extent)),
                    Err(_) => {
                        let token = self.token;
                        return Err(self.error_at(token, format!("extent {digits} is out of range")));
                    }
                }
            }
            self.advance();
            if !self.accept(b'[') {
                break;
            }
            shape.push(self.dim()?);
            if !self.at(b']') {
                return Err(self.expected("`]`"));
            }
            if !self.lexer.shape_separator() {
                self.advance();
                return Err(self.expected("`x` after an extent"));
            }
        }
        let dtype = self.dtype()?;
        let mut layout = None;
        let mut storage = Storage::Gmem;
        while self.accept(b',') {
            if self.token.kind == Kind::Word && !self.at_layout() {
                storage = self.storage()?;
                break;
            }
            if layout.is_some() {
                return Err(self.expected("a storage"));
            }
            layout = Some(self.layout()?);
        }
        self.expect(b'>')?;
        Ok(self.cx().tensor(&shape, dtype, layout, storage))
    }

    pub fn dtype(&mut self) -> Parsed<DType> {
        let token = self.expect_kind(Kind::Word, "a dtype")?;
        let name = self.text_of(token);
        DType::from_name(name).map_err(|error| {
            let known = DType::ALL.map(DType::name);
            self.unknown(token, error.message, name, known)
        })
    }

    pub fn storage(&mut self) -> Parsed<Storage> {
        let token = self.expect_kind(Kind::Word, "a storage")?;
        let name = self.text_of(token);
        Storage::from_name(name).map_err(|error| {
            let known = Storage::ALL.map(Storage::name);
            self.unknown(token, error.message, name, known)
        })
    }

    /// Refuses `found` where `written` stands.
    pub fn same_type(&mut self, token: Token, what: &str, found: Type<'c>, written: Type<'c>) -> Parsed<()> {
        if found == written {
            return Ok(());
        }
        let (found, written) = (print_type(found), print_type(written));
        let _: Failed = self.error_at(token, format!("{what} {found}, but {written} is written"));
        Err(Failed)
    }
}
