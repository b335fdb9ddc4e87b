//! Long and shared dims on a small stack.

use tf_types::{Arena, DimOp, TypeContext};

#[test]
fn a_long_chain_fits_a_2_mib_stack() {
    let run = || {
        let arena = Arena::new();
        let cx = &TypeContext::new(&arena);
        let n = cx.new_dim_var("n", 1, 9).unwrap();
        let mut sum = n;
        for _ in 0..100_000 {
            sum = cx.dim_op(DimOp::Sub, sum, cx.dim(1));
        }
        assert_eq!(cx.simplify(sum).to_string(), "n - 100000");
        assert_eq!(cx.dim_range(sum), Some((1 - 100_000, 9 - 100_000)));
        let bound = cx.substitute_dim(sum, &[(cx.symbol("n"), cx.dim(4))]).unwrap();
        assert_eq!(bound.as_const(), Some(4 - 100_000));
        assert!(sum.to_string().len() > 100_000);
    };
    std::thread::Builder::new().stack_size(2 << 20).spawn(run).unwrap().join().unwrap();
}
