//! Meshes over several hardware levels.

use std::ops::Range;

use crate::layout::static_product;
use crate::mesh::MeshLayout;
use crate::{Dim, DimTuple, Layout, Mesh, Topology, TypeContext, TypeError};

impl<'c> Mesh<'c> {
    /// The axis of that name.
    ///
    /// # Errors
    /// No such axis; the message lists those there are.
    pub fn require_axis(self, name: &str) -> Result<usize, TypeError> {
        self.axis_index(name).ok_or_else(|| {
            let known: Vec<_> = (0..self.rank()).map(|axis| self.axis_name(axis)).collect();
            TypeError::new(format!("the mesh has no axis `{name}`; it has {}", known.join(", ")))
        })
    }

    /// The axes of each level, outermost first: one level owns all; several take axes left to right until their
    /// product is the level's size. A symbolic size takes exactly one axis, of the same dim.
    ///
    /// # Errors
    /// A deferred size, extents that overshoot a level, axes left over.
    pub fn level_axes(self) -> Result<Vec<Range<usize>>, TypeError> {
        let extents = self.extents();
        if self.topologies.len() == 1 {
            return Ok(vec![0..extents.len(); 1]);
        }
        let mut levels = Vec::with_capacity(self.topologies.len());
        let mut next = 0;
        for topology in self.topologies {
            let size = topology.size.ok_or_else(|| {
                TypeError::new(format!(
                    "the size of level `{}` is deferred, so its mesh axes are not known",
                    topology.name
                ))
            })?;
            let start = next;
            match size.as_const() {
                None if extents.get(next) == Some(&size) => next += 1,
                None => return Err(self.boundary(topology.name.as_str(), size)),
                Some(size_value) => {
                    let mut product = 1i64;
                    while product < size_value && next < extents.len() {
                        let extent =
                            extents[next].as_const().ok_or_else(|| self.boundary(topology.name.as_str(), size))?;
                        product = product.saturating_mul(extent);
                        next += 1;
                    }
                    if product != size_value {
                        return Err(self.boundary(topology.name.as_str(), size));
                    }
                }
            }
            levels.push(start..next);
        }
        if next < extents.len() {
            return Err(TypeError::new(format!(
                "mesh axis `{}` of extent {} belongs to no level",
                self.axis_name(next),
                extents[next]
            )));
        }
        Ok(levels)
    }

    fn boundary(self, level: &str, size: Dim<'c>) -> TypeError {
        TypeError::new(format!(
            "mesh extents {} do not multiply to {size} positions at the end of level `{level}`",
            DimTuple(self.extents())
        ))
    }

    /// The level (index into the topologies) that owns each axis.
    ///
    /// # Errors
    /// As [`Mesh::level_axes`].
    pub fn axis_levels(self) -> Result<Vec<usize>, TypeError> {
        let levels = self.level_axes()?.into_iter().enumerate();
        Ok(levels.flat_map(|(level, axes)| axes.map(move |_| level)).collect())
    }

    /// Whether the mesh covers every position of its levels: `product(sizes) = size(layout)`.
    #[must_use]
    pub fn states_consistent_positions(self) -> bool {
        let sizes: Option<Vec<Dim<'c>>> = self.topologies.iter().map(|t| t.size).collect();
        sizes.and_then(|s| static_product(&s)).is_some_and(|size| self.size() == Some(size))
    }

    /// Checks a mesh where its scope opens: extents multiply to each level's size, or the mesh is a slice inside
    /// its levels. A deferred size is not checked.
    ///
    /// # Errors
    /// Another number of positions; an axis across a level boundary; a slice that leaves its levels.
    pub fn check_extents(self) -> Result<(), TypeError> {
        let Some(sizes) = self.topologies.iter().map(|t| t.size).collect::<Option<Vec<_>>>() else { return Ok(()) };
        let levels = || self.topologies.iter().map(ToString::to_string).collect::<Vec<_>>().join(" x ");
        let total = static_product(&sizes);
        if let MeshLayout::Sliced(scope) = self.layout {
            let last = self.size().and_then(|size| scope.image(size - 1).ok());
            return match (last, total) {
                (Some(last), Some(total)) if last >= total => {
                    Err(TypeError::new(format!("the mesh slice reaches position {last}, but {} has {total}", levels())))
                }
                _ => Ok(()),
            };
        }
        match (self.size(), total) {
            (Some(size), Some(total)) if size != total => Err(TypeError::new(format!(
                "mesh extents {} multiply to {size} positions, but {} has {total}",
                DimTuple(self.extents()),
                levels()
            ))),
            (Some(_), Some(_)) if sizes.len() == 1 => Ok(()),
            _ if sizes.len() == 1 && self.extents() != sizes => Err(TypeError::new(format!(
                "mesh extents {} are not the {} positions of level `{}`",
                DimTuple(self.extents()),
                sizes[0],
                self.topologies[0].name
            ))
            .with_help("a symbolic size takes exactly one axis, of the same dim")),
            _ => self.level_axes().map(|_| ()),
        }
    }

    /// Checks that the levels of a mesh are among those that its module declares, with the same sizes where both state one.
    ///
    /// # Errors
    /// A level that is not declared, or has another size.
    pub fn check_levels(self, declared: &[Topology<'c>]) -> Result<(), TypeError> {
        for level in self.topologies {
            let Some(own) = declared.iter().find(|known| known.name == level.name) else {
                let name = level.name;
                return Err(TypeError::new(format!("the level `{name}` of the mesh is not declared by the module")));
            };
            if own.size.is_some() && level.size.is_some() && own.size != level.size {
                let message = format!("the mesh is over the level {level}, but the module declares {own}");
                return Err(TypeError::new(message));
            }
        }
        Ok(())
    }
}

impl<'c> TypeContext<'c> {
    /// The positions of one level as the mesh sees them: the axes up to and including the level, strides divided by
    /// the product of the deeper sizes.
    ///
    /// # Errors
    /// A sliced mesh; an unknown level; strides that are absent, symbolic or not divisible.
    pub fn level_projection(&self, mesh: Mesh<'c>, level: &str) -> Result<Layout<'c>, TypeError> {
        let MeshLayout::Plain(layout) = mesh.layout else {
            return Err(TypeError::new("a sliced mesh cannot be projected to a level"));
        };
        let Some(index) = mesh.topology_names().position(|name| name.as_str() == level) else {
            let known: Vec<_> = mesh.topology_names().map(|n| n.as_str()).collect();
            return Err(TypeError::new(format!("the mesh has no level `{level}`; it has {}", known.join(", "))));
        };
        if mesh.topologies.len() == 1 {
            return Ok(layout);
        }
        let axes = mesh.level_axes()?;
        let end = axes[index].end;
        let deeper = static_product(&mesh.extents()[end..])
            .ok_or_else(|| TypeError::new(format!("the positions below level `{level}` are symbolic")))?;
        let strides = layout
            .static_strides()
            .ok_or_else(|| TypeError::new("projecting a mesh to a level needs integer strides"))?;
        let divided: Option<Vec<Dim<'c>>> =
            strides[..end].iter().map(|&s| (deeper != 0 && s % deeper == 0).then(|| self.dim(s / deeper))).collect();
        let divided = divided.ok_or_else(|| {
            TypeError::new(format!(
                "mesh strides above level `{level}` are not multiples of the {deeper} positions below"
            ))
        })?;
        Ok(self.layout(&mesh.extents()[..end], Some(&divided)))
    }

    /// One mesh over the levels of several, outermost first; one mesh is itself.
    ///
    /// # Errors
    /// None given; a sliced or multi-level mesh; two of one level; strides or inner positions that are no integers.
    pub fn composed(&self, meshes: &[Mesh<'c>]) -> Result<Mesh<'c>, TypeError> {
        if let [mesh] = *meshes {
            return Ok(mesh);
        }
        let (mut topologies, mut shape, mut strides, mut names) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut below = 1i64;
        for &mesh in meshes.iter().rev() {
            let (MeshLayout::Plain(layout), [topology]) = (mesh.layout, mesh.topologies) else {
                return Err(TypeError::new(format!("only whole meshes of one level can be composed, not {mesh}")));
            };
            if topologies.contains(topology) || topologies.iter().any(|t: &crate::Topology<'c>| t.name == topology.name)
            {
                return Err(TypeError::new(format!("two meshes of one placement are over level `{}`", topology.name)));
            }
            let own = layout.static_strides().ok_or_else(|| {
                TypeError::new(format!("composing meshes needs integer strides, not those of {mesh}"))
            })?;
            topologies.insert(0, *topology);
            shape.splice(0..0, layout.shape().iter().copied());
            let scaled: Option<Vec<i64>> = own.iter().map(|s| s.checked_mul(below)).collect();
            strides.splice(0..0, scaled.ok_or_else(|| TypeError::new("the strides of the composed mesh overflow"))?);
            names.splice(0..0, (0..mesh.rank()).map(|axis| self.symbol(&mesh.axis_name(axis))));
            if topologies.len() < meshes.len() {
                below = mesh.size().and_then(|size| size.checked_mul(below)).ok_or_else(|| {
                    TypeError::new(format!(
                        "composing needs an integer number of positions below the outermost level, not {mesh}"
                    ))
                })?;
            }
        }
        if topologies.is_empty() {
            return Err(TypeError::new("there is no mesh to compose"));
        }
        if meshes.iter().all(|mesh| mesh.names.is_empty()) {
            names.clear();
        }
        let layout = self.layout(&shape, Some(self.const_dims(&strides)));
        Ok(self.mesh(&topologies, MeshLayout::Plain(layout), &names))
    }

    /// Whether the scope `current` is the one that an instruction requires: same first level, both covering their
    /// levels, and the same extents and strides.
    #[must_use]
    pub fn scope_matches(&self, current: Mesh<'c>, required: Mesh<'c>) -> bool {
        let (MeshLayout::Plain(have), MeshLayout::Plain(want)) = (current.layout, required.layout) else {
            return false;
        };
        current.topology_names().next() == required.topology_names().next()
            && current.states_consistent_positions()
            && required.states_consistent_positions()
            && have.is_inverse_projectable()
            && have == want
    }
}

#[cfg(test)]
mod tests {
    use crate::test_util::{dims, mesh};
    use crate::{Arena, Mesh, MeshLayout, TypeContext};

    #[test]
    fn levels_take_axes_in_turn() {
        let arena = Arena::new();
        let cx = &TypeContext::new(&arena);
        let m = mesh(cx, &[("cta", 4), ("thread", 64)], &[("a", 2), ("b", 2), ("c", 64)]);
        assert_eq!(m.level_axes().unwrap(), [0..2, 2..3]);
        assert_eq!(m.axis_levels().unwrap(), [0, 0, 1]);
        assert_eq!(cx.level_projection(m, "cta").unwrap().to_string(), "(2, 2):(2, 1)");
        assert_eq!(cx.level_projection(m, "thread").unwrap().to_string(), "(2, 2, 64):(128, 64, 1)");
        let symbolic = mesh(cx, &[("cta", 0), ("thread", 32)], &[("row", 0), ("lane", 32)]);
        assert_eq!(symbolic.level_axes().unwrap(), [0..1, 1..2]);
        symbolic.check_extents().unwrap();
        assert_eq!(cx.level_projection(symbolic, "cta").unwrap().to_string(), "(S,):(1,)");
    }

    #[test]
    fn level_refusals() {
        let arena = Arena::new();
        let cx = &TypeContext::new(&arena);
        let refusal = |m: Mesh<'_>| m.level_axes().unwrap_err().message;
        assert_eq!(
            refusal(mesh(cx, &[("cta", 4), ("thread", 64)], &[("a", 8), ("c", 32)])),
            "mesh extents (8, 32) do not multiply to 4 positions at the end of level `cta`"
        );
        assert_eq!(
            refusal(mesh(cx, &[("cta", 4), ("thread", 8)], &[("a", 4), ("b", 8), ("c", 2)])),
            "mesh axis `c` of extent 2 belongs to no level"
        );
        assert_eq!(
            refusal(mesh(cx, &[("cta", 0), ("thread", 8)], &[("a", 4), ("b", 8)])),
            "mesh extents (4, 8) do not multiply to S positions at the end of level `cta`"
        );
        let mut deferred = mesh(cx, &[("cta", 4), ("thread", 8)], &[("a", 4), ("b", 8)]).topologies.to_vec();
        deferred[0].size = None;
        let deferred = cx.mesh(&deferred, MeshLayout::Plain(cx.c_order_layout(dims(cx, "4 8"))), &[]);
        assert_eq!(refusal(deferred), "the size of level `cta` is deferred, so its mesh axes are not known");
        let m = mesh(cx, &[("cta", 4), ("thread", 8)], &[("a", 4), ("b", 8)]);
        assert_eq!(
            cx.level_projection(m, "warp").unwrap_err().message,
            "the mesh has no level `warp`; it has cta, thread"
        );
        assert_eq!(m.require_axis("row").unwrap_err().message, "the mesh has no axis `row`; it has a, b");
        assert_eq!(m.require_axis("y").unwrap(), 1);
        let rows = mesh(cx, &[("cta", 4), ("thread", 0)], &[("b", 4), ("t", 0)]);
        assert_eq!(
            cx.level_projection(rows, "cta").unwrap_err().message,
            "the positions below level `cta` are symbolic"
        );
        let bare = cx.mesh(m.topologies, MeshLayout::Plain(cx.layout(dims(cx, "4 8"), None)), &[]);
        assert_eq!(
            cx.level_projection(bare, "cta").unwrap_err().message,
            "projecting a mesh to a level needs integer strides"
        );
        let odd = cx.mesh(m.topologies, MeshLayout::Plain(cx.layout(dims(cx, "4 8"), Some(dims(cx, "3 1")))), &[]);
        assert_eq!(
            cx.level_projection(odd, "cta").unwrap_err().message,
            "mesh strides above level `cta` are not multiples of the 8 positions below"
        );
    }

    #[test]
    fn extents_are_checked_against_the_levels() {
        let arena = Arena::new();
        let cx = &TypeContext::new(&arena);
        let refusal = |m: Mesh<'_>| m.check_extents().unwrap_err().message;
        mesh(cx, &[("thread", 64)], &[("w", 2), ("l", 32)]).check_extents().unwrap();
        assert_eq!(
            refusal(mesh(cx, &[("thread", 64)], &[("w", 4), ("l", 8)])),
            "mesh extents (4, 8) multiply to 32 positions, but thread 64 has 64"
        );
        assert_eq!(
            refusal(mesh(cx, &[("cta", 4), ("thread", 64)], &[("b", 4), ("t", 32)])),
            "mesh extents (4, 32) multiply to 128 positions, but cta 4 x thread 64 has 256"
        );
        assert_eq!(
            refusal(mesh(cx, &[("cta", 0)], &[("b", 4)])),
            "mesh extents (4,) are not the S positions of level `cta`"
        );
    }

    fn refusal<'c>(cx: &TypeContext<'c>, meshes: &[Mesh<'c>]) -> String {
        cx.composed(meshes).unwrap_err().message
    }

    #[test]
    fn composing() {
        let arena = Arena::new();
        let cx = &TypeContext::new(&arena);
        let cta = mesh(cx, &[("cta", 4)], &[("b", 4)]);
        let thread = mesh(cx, &[("thread", 64)], &[("w", 2), ("l", 32)]);
        let both = cx.composed(&[cta, thread]).unwrap();
        assert_eq!(both.to_string(), "Mesh(cta 4, thread 64; b=4, w=2, l=32)");
        assert_eq!(both.strides().unwrap(), dims(cx, "64 32 1"));
        assert_eq!(cx.composed(&[thread]).unwrap(), thread);
        assert_eq!(
            refusal(cx, &[both, thread]),
            "only whole meshes of one level can be composed, not Mesh(cta 4, thread 64; b=4, w=2, l=32)"
        );
        assert_eq!(refusal(cx, &[thread, thread]), "two meshes of one placement are over level `thread`");
        assert_eq!(refusal(cx, &[]), "there is no mesh to compose");
        let grid = mesh(cx, &[("cta", 0)], &[("b", 0)]);
        assert_eq!(cx.composed(&[grid, thread]).unwrap().strides().unwrap(), dims(cx, "64 32 1"));
        let rows = mesh(cx, &[("thread", 0)], &[("t", 0)]);
        assert_eq!(
            refusal(cx, &[cta, rows]),
            "composing needs an integer number of positions below the outermost level, not Mesh(thread S; t=S)"
        );
        let far = cx.layout(dims(cx, "4"), Some(dims(cx, "9223372036854775807")));
        let far = cx.mesh(cta.topologies, MeshLayout::Plain(far), &[]);
        assert_eq!(refusal(cx, &[far, thread]), "the strides of the composed mesh overflow");
        let bare = cx.mesh(cta.topologies, MeshLayout::Plain(cx.layout(dims(cx, "4"), None)), &[]);
        assert_eq!(
            refusal(cx, &[bare, thread]),
            "composing meshes needs integer strides, not those of Mesh(cta 4; x=4)"
        );
    }

    #[test]
    fn scopes_match_by_extents_and_strides() {
        let arena = Arena::new();
        let cx = &TypeContext::new(&arena);
        let thread = mesh(cx, &[("thread", 32)], &[]).topologies;
        let warp = |shape, strides| {
            cx.mesh(thread, MeshLayout::Plain(cx.layout(dims(cx, shape), Some(dims(cx, strides)))), &[])
        };
        assert!(cx.scope_matches(warp("4 8", "1 4"), warp("4 8", "1 4")));
        assert!(!cx.scope_matches(warp("4 8", "8 1"), warp("4 8", "1 4")));
        assert!(!cx.scope_matches(warp("4 4", "1 4"), warp("4 4", "1 4")));
    }
}
