//! Layouts, placements and meshes.

use tf_types::{
    ComposedLayout, Dim, Layout, Mesh, MeshLayout, OuterLayout, ShardAttr, ShardLayout, TensorLayout, Topology,
};

use super::Parser;
use super::alias::Alias;
use super::cursor::Parsed;
use super::lexer::Kind;

impl<'c> Parser<'_, '_, 'c> {
    pub fn at_layout(&self) -> bool {
        ["layout", "composed", "shard"].into_iter().any(|word| self.at_word(word))
    }

    pub fn layout(&mut self) -> Parsed<TensorLayout<'c>> {
        if self.token.kind == Kind::Hash {
            let token = self.advance();
            return match self.alias(token)? {
                Alias::Layout(layout) => Ok(layout),
                other => Err(self.wrong_alias(token, other, "a layout")),
            };
        }
        if self.accept_word("layout") {
            self.expect(b'<')?;
            let layout = self.strided()?;
            self.expect(b'>')?;
            return Ok(TensorLayout::Plain(layout));
        }
        if self.at_word("composed") {
            return self.nested(Self::composed).map(TensorLayout::Composed);
        }
        if self.at_word("shard") {
            return self.nested(Self::shard_literal).map(TensorLayout::Shard);
        }
        Err(self.expected("a layout: `layout<`, `composed<`, `shard<` or an alias"))
    }

    pub fn shard(&mut self) -> Parsed<ShardLayout<'c>> {
        let token = self.token;
        match self.layout()? {
            TensorLayout::Shard(shard) => Ok(shard),
            _ => Err(self.error_at(token, "expected a placement `shard<…>`, found another layout")),
        }
    }

    pub fn dim_list(&mut self, brackets: [u8; 2]) -> Parsed<Vec<Dim<'c>>> {
        self.list(brackets, Self::dim)
    }

    /// `(4, 8):(8, 1)`, or without strides.
    fn strided(&mut self) -> Parsed<Layout<'c>> {
        let token = self.token;
        let shape = self.dim_list([b'(', b')'])?;
        if !self.accept(b':') {
            return Ok(self.cx().layout(&shape, None));
        }
        let strides = self.dim_list([b'(', b')'])?;
        self.cx().new_layout(&shape, Some(&strides)).map_err(|error| self.type_error(token, error))
    }

    fn composed(&mut self) -> Parsed<ComposedLayout<'c>> {
        self.expect_word("composed")?;
        self.expect(b'<')?;
        let mut inner = None;
        if self.accept_word("inner") {
            self.expect(b'=')?;
            inner = Some(self.strided()?);
            self.expect(b',')?;
        }
        self.expect_word("offset")?;
        self.expect(b'=')?;
        let offset = self.dim()?;
        let mut outer = None;
        if self.accept(b',') {
            self.expect_word("outer")?;
            self.expect(b'=')?;
            outer = Some(if self.at(b'(') {
                OuterLayout::Plain(self.strided()?)
            } else {
                OuterLayout::Shard(self.shard()?)
            });
        }
        self.expect(b'>')?;
        Ok(self.cx().composed_layout(inner, offset, outer))
    }

    fn shard_literal(&mut self) -> Parsed<ShardLayout<'c>> {
        let token = self.advance();
        self.expect(b'<')?;
        let layout = self.strided()?;
        self.expect(b',')?;
        let attrs = self.list([b'[', b']'], Self::shard_attr)?;
        self.expect(b',')?;
        let mesh = self.mesh()?;
        self.expect(b'>')?;
        let shard = self.cx().shard_layout(layout, &attrs, mesh);
        match self.cx().check_shard_layout(shard) {
            Ok(()) => Ok(shard),
            Err(error) => Err(self.error_at(token, error.message)),
        }
    }

    fn shard_attr(&mut self) -> Parsed<ShardAttr<'c>> {
        if self.accept_word("S") {
            self.expect(b'(')?;
            let axis = self.integer("a layout axis")?;
            self.expect(b')')?;
            return Ok(ShardAttr::Split(axis));
        }
        if self.accept_word("P") {
            self.expect(b'(')?;
            let reduction = self.string()?;
            self.expect(b')')?;
            return Ok(ShardAttr::Partial(reduction));
        }
        if self.accept_word("B") {
            return Ok(ShardAttr::Broadcast);
        }
        if self.accept_word("dynamic") {
            return Ok(ShardAttr::Dynamic);
        }
        Err(self.expected("`S(axis)`, `B`, `P(\"reduction\")` or `dynamic`"))
    }

    pub fn mesh(&mut self) -> Parsed<Mesh<'c>> {
        if self.token.kind == Kind::Hash {
            let token = self.advance();
            return match self.alias(token)? {
                Alias::Mesh(mesh) => Ok(mesh),
                other => Err(self.wrong_alias(token, other, "a mesh")),
            };
        }
        if !self.at_word("mesh") {
            return Err(self.expected("a mesh: `mesh<` or an alias"));
        }
        self.advance();
        self.expect(b'<')?;
        let topologies = self.list([b'[', b']'], Self::level)?;
        self.expect(b',')?;
        let layout = if self.at_word("composed") {
            MeshLayout::Sliced(self.composed()?)
        } else {
            MeshLayout::Plain(self.strided()?)
        };
        let names = if self.accept(b',') {
            self.list([b'[', b']'], |p| p.word_or_string("the name of a mesh axis"))?
        } else {
            Vec::new()
        };
        self.expect(b'>')?;
        Ok(self.cx().mesh(&topologies, layout, &names))
    }

    /// `cta = 8` or `thread = ?`.
    pub fn level(&mut self) -> Parsed<Topology<'c>> {
        let name = self.word_or_string("the name of a level")?;
        self.expect(b'=')?;
        let size = if self.accept(b'?') { None } else { Some(self.dim()?) };
        Ok(Topology { name, size })
    }
}
