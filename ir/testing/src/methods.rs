//! Methods.

use tf_core::Literal;
use tf_core::node::Method;
use tf_core::node::method::{MethodData, MethodExpr, MethodItems, MethodParam, MethodSpan, MethodStmt, MethodStmtKind};

use crate::Generator;

impl<'c> Generator<'_, 'c> {
    /// A method of that name.
    pub fn method(&mut self, name: &str) -> Method<'c> {
        let cx = self.cx;
        let mut params = vec![MethodParam { name: cx.symbol("x"), default: None }];
        if self.rng.once_in(2) {
            params.push(MethodParam { name: cx.symbol("odd name"), default: Some(self.method_expr(1)) });
        }
        let body = self.method_block(2);
        cx.method(MethodData {
            name: cx.symbol(name),
            params: cx.alloc_slice(&params),
            source: cx.symbol("def forward(self, x):\n    return self.f(x)  # \"done\"\n").as_str(),
            body,
            span: self.meta().span,
        })
    }

    fn method_block(&mut self, depth: usize) -> &'c [MethodStmt<'c>] {
        let mut stmts = Vec::new();
        for _ in 0..self.rng.below(4) {
            let kind = self.method_stmt(depth);
            stmts.push(MethodStmt { kind, span: MethodSpan(self.meta().span) });
        }
        self.cx.alloc_slice(&stmts)
    }

    fn method_stmt(&mut self, depth: usize) -> MethodStmtKind<'c> {
        let cx = self.cx;
        let name = cx.symbol(["a", "for", "b c"][self.rng.below(3)]);
        match self.rng.below(7) {
            0 => MethodStmtKind::Assign(name, self.method_expr(3)),
            1 => MethodStmtKind::Unpack(cx.symbols(&[name, cx.symbol("b")]), self.method_expr(3)),
            2 => MethodStmtKind::Drop(self.method_expr(3)),
            3 if depth > 0 => {
                let items = match self.rng.below(2) {
                    0 => MethodItems::Of(self.method_expr(2)),
                    _ => MethodItems::Range(0, self.rng.below(9) as i64, -1),
                };
                MethodStmtKind::For { name, items, body: self.method_block(depth - 1) }
            }
            4 => MethodStmtKind::Return(None),
            5 => MethodStmtKind::Unsupported(cx.symbol("a `while` loop")),
            _ => MethodStmtKind::Return(Some(self.method_expr(3))),
        }
    }

    fn method_expr(&mut self, depth: usize) -> MethodExpr<'c> {
        let cx = self.cx;
        if depth > 0 {
            let base = cx.alloc(self.method_expr(depth - 1));
            match self.rng.below(5) {
                0 => return MethodExpr::Attribute(base, cx.symbol(["layers", "odd name", "f"][self.rng.below(3)])),
                1 => return MethodExpr::Item(base, cx.alloc(self.method_expr(depth - 1))),
                2 => {
                    let items: Vec<_> = (0..self.rng.below(3)).map(|_| self.method_expr(depth - 1)).collect();
                    return MethodExpr::Tuple(cx.alloc_slice(&items));
                }
                3 => {
                    let args: Vec<_> = (0..self.rng.below(3)).map(|_| self.method_expr(depth - 1)).collect();
                    let keywords: Vec<_> = (0..self.rng.below(2))
                        .map(|_| (cx.symbol(["eps", "odd name"][self.rng.below(2)]), self.method_expr(0)))
                        .collect();
                    let (args, keywords) = (cx.alloc_slice(&args), cx.alloc_slice(&keywords));
                    return MethodExpr::Call { callee: base, args, keywords };
                }
                _ => {}
            }
        }
        match self.rng.below(6) {
            0 => MethodExpr::None,
            1 => MethodExpr::Literal(Literal::Float(self.float())),
            2 => MethodExpr::Literal(Literal::Int(self.rng.next_u64() as i64)),
            3 => MethodExpr::Str(cx.symbol("two\twords")),
            4 => MethodExpr::Unsupported(cx.symbol("a lambda")),
            _ => MethodExpr::Name(cx.symbol(["self", "x", "odd name"][self.rng.below(3)])),
        }
    }
}
