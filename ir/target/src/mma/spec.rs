//! The table of instructions.

use tf_types::mesh::MeshLayout;
use tf_types::{DType, Mesh, ShardLayout, Topology, TypeContext};

use super::{Fragment, Operand};

/// An instruction that multiplies matrices: `c += a @ b`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MmaOpSpec {
    /// `SM80` or `SM90`: the first architecture that has it.
    generation: &'static str,
    shape: [i64; 3],
    /// Of A and B; `TF32` operands are f32 values that the instruction rounds to 10 bits of fraction.
    input: Input,
    accumulator: DType,
    threads: &'static [(i64, i64)],
    capability: &'static str,
}

/// What the instruction reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Input {
    Bf16,
    F16,
    Tf32,
}

impl Input {
    const fn name(self) -> &'static str {
        match self {
            Self::Bf16 => "BF16",
            Self::F16 => "F16",
            Self::Tf32 => "TF32",
        }
    }

    const fn dtype(self) -> DType {
        match self {
            Self::Bf16 => DType::BF16,
            Self::F16 => DType::F16,
            Self::Tf32 => DType::F32,
        }
    }
}

/// A warp: `t0 = tid mod 4`, `t1 = tid div 4`.
const WARP: &[(i64, i64)] = &[(4, 1), (8, 4)];
/// Four warps: `t0` and `t1` within a warp, and the warp.
const WARPGROUP: &[(i64, i64)] = &[(4, 1), (8, 4), (4, 32)];

const fn sm80(k: i64, input: Input, accumulator: DType) -> MmaOpSpec {
    MmaOpSpec { generation: "SM80", shape: [16, 8, k], input, accumulator, threads: WARP, capability: "tensor_core" }
}

/// Instructions of one warp.
const OF_A_WARP: [MmaOpSpec; 4] = [
    MmaOpSpec::SM80_16X8X16_BF16,
    sm80(16, Input::F16, DType::F32),
    sm80(16, Input::F16, DType::F16),
    sm80(8, Input::Tf32, DType::F32),
];

/// Dtypes of the instructions of a warpgroup; the extent N is any multiple of 8 up to 256.
const OF_A_WARPGROUP: [(Input, DType); 3] =
    [(Input::Bf16, DType::F32), (Input::F16, DType::F32), (Input::F16, DType::F16)];

impl MmaOpSpec {
    /// The instruction that the language names: bf16 operands of one warp, f32 accumulator.
    pub const SM80_16X8X16_BF16: Self = sm80(16, Input::Bf16, DType::F32);

    /// All instructions.
    pub fn all() -> impl Iterator<Item = Self> {
        let wide = (8..=256).step_by(8).flat_map(|n| {
            OF_A_WARPGROUP.map(|(input, accumulator)| Self {
                generation: "SM90",
                shape: [64, n, 16],
                input,
                accumulator,
                threads: WARPGROUP,
                capability: "wgmma",
            })
        });
        OF_A_WARP.into_iter().chain(wide)
    }

    /// The instruction of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::all().find(|spec| spec.name() == name)
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> String {
        let ([m, n, k], input) = (self.shape, self.input.name());
        let result = self.accumulator.name().to_uppercase();
        format!("{}_{m}x{n}x{k}_{result}{input}{input}{result}_{}", self.generation, self.operand_layout())
    }

    /// (M, N, K)
    #[must_use]
    pub const fn shape_mnk(self) -> [i64; 3] {
        self.shape
    }

    /// Dtypes of the values of A, B and C.
    #[must_use]
    pub const fn dtypes(self) -> [DType; 3] {
        [self.input.dtype(), self.input.dtype(), self.accumulator]
    }

    /// `TN`: A is row-major, B column-major.
    #[must_use]
    pub const fn operand_layout(self) -> &'static str {
        "TN"
    }

    /// What an architecture must be capable of to have it.
    #[must_use]
    pub const fn capability(self) -> &'static str {
        self.capability
    }

    /// Whether the operands A and B are read from registers; otherwise from shared memory.
    #[must_use]
    pub fn reads_registers(self) -> bool {
        self.threads == WARP
    }

    /// What the threads hold of an operand.
    #[must_use]
    pub fn fragment(self, operand: Operand) -> Fragment {
        Fragment::of(self, operand)
    }

    /// The mesh of threads that runs it: one topology `thread`.
    #[must_use]
    pub fn required_scope<'c>(self, cx: &TypeContext<'c>) -> Mesh<'c> {
        let (extents, strides): (Vec<_>, Vec<_>) = self.threads.iter().copied().unzip();
        let layout = cx.layout(cx.const_dims(&extents), Some(cx.const_dims(&strides)));
        let thread = Topology { name: cx.symbol("thread"), size: Some(cx.dim(extents.iter().product())) };
        cx.mesh(&[thread], MeshLayout::Plain(layout), &[])
    }

    /// The instruction with the placements of its operands.
    #[must_use]
    pub fn atom<'c>(self, cx: &TypeContext<'c>) -> MmaAtom<'c> {
        let scope = self.required_scope(cx);
        let placement = |operand| self.fragment(operand).placement(cx, scope);
        let [a, b, c] = [Operand::A, Operand::B, Operand::C].map(placement);
        MmaAtom { op: self, a, b, c, required_scope: scope }
    }
}

/// An instruction, and how its operands are placed over the threads that run it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MmaAtom<'c> {
    /// The instruction.
    pub op: MmaOpSpec,
    /// Placement of A, (M, K).
    pub a: ShardLayout<'c>,
    /// Placement of B, (K, N).
    pub b: ShardLayout<'c>,
    /// Placement of C, (M, N).
    pub c: ShardLayout<'c>,
    /// The mesh of threads.
    pub required_scope: Mesh<'c>,
}

#[cfg(test)]
mod tests {
    use rustc_hash::FxHashSet;
    use tf_types::{Arena, DType, TypeContext};

    use super::MmaOpSpec;

    #[test]
    fn names() {
        let names: Vec<_> = MmaOpSpec::all().map(MmaOpSpec::name).collect();
        assert_eq!(
            names[..5],
            [
                "SM80_16x8x16_F32BF16BF16F32_TN",
                "SM80_16x8x16_F32F16F16F32_TN",
                "SM80_16x8x16_F16F16F16F16_TN",
                "SM80_16x8x8_F32TF32TF32F32_TN",
                "SM90_64x8x16_F32BF16BF16F32_TN",
            ]
        );
        assert_eq!(names.len(), 4 + 32 * 3);
        assert_eq!(names.iter().collect::<FxHashSet<_>>().len(), names.len());
        for spec in MmaOpSpec::all() {
            assert_eq!(MmaOpSpec::named(&spec.name()), Some(spec));
        }
        assert_eq!(MmaOpSpec::named("SM90_64x12x16_F32BF16BF16F32_TN"), None);
    }

    #[test]
    fn the_instruction_that_the_language_names() {
        let arena = Arena::new();
        let cx = &TypeContext::new(&arena);
        let spec = MmaOpSpec::named("SM80_16x8x16_F32BF16BF16F32_TN").unwrap();
        assert_eq!((spec.shape_mnk(), spec.operand_layout()), ([16, 8, 16], "TN"));
        assert_eq!(spec.dtypes(), [DType::BF16, DType::BF16, DType::F32]);
        let atom = spec.atom(cx);
        assert_eq!(cx.scope(atom.required_scope).to_string(), "(4, 8):(1, 4) + 0");
        let layouts = [atom.a, atom.b, atom.c].map(|shard| shard.layout.to_string());
        assert_eq!(
            layouts,
            ["(2, 4, 2, 8, 2):(1, 2, 8, 16, 128)", "(8, 2, 4, 2):(1, 8, 16, 64)", "(2, 4, 8, 2):(1, 2, 8, 64)"]
        );
        let wide = MmaOpSpec::named("SM90_64x128x16_F32BF16BF16F32_TN").unwrap();
        assert_eq!(cx.scope(wide.required_scope(cx)).to_string(), "(4, 8, 4):(1, 4, 32) + 0");
        assert_eq!((wide.capability(), wide.reads_registers()), ("wgmma", false));
    }
}
