//! Expansion of `#[op]`.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Error, Expr, ExprLit, Field, Ident, ItemStruct, Lit, LitStr, Meta, Result, Token, Type};

/// The arguments of `#[op(…)]`.
pub struct Args {
    dialect: LitStr,
    category: LitStr,
    name: Option<LitStr>,
    effect: bool,
}

impl Parse for Args {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let (mut dialect, mut category, mut name, mut effect) = (None, None, None, false);
        while !input.is_empty() {
            let key: Ident = input.parse()?;
            if key == "effect" {
                effect = true;
            } else {
                input.parse::<Token![=]>()?;
                let value: LitStr = input.parse()?;
                match key.to_string().as_str() {
                    "dialect" => dialect = Some(value),
                    "category" => category = Some(value),
                    "name" => name = Some(value),
                    _ => return Err(Error::new(key.span(), "expected dialect, category, name or effect")),
                }
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        let missing = |what| Error::new(input.span(), format!("`{what} = \"…\"` is missing"));
        Ok(Self {
            dialect: dialect.ok_or_else(|| missing("dialect"))?,
            category: category.ok_or_else(|| missing("category"))?,
            name,
            effect,
        })
    }
}

fn doc_of(attrs: &[Attribute]) -> String {
    let lines = attrs.iter().filter(|a| a.path().is_ident("doc")).filter_map(|a| match &a.meta {
        Meta::NameValue(pair) => match &pair.value {
            Expr::Lit(lit) => match &lit.lit {
                Lit::Str(text) => {
                    let line = text.value();
                    Some(line.strip_prefix(' ').unwrap_or(&line).trim_end().to_owned())
                }
                _ => None,
            },
            _ => None,
        },
        _ => None,
    });
    lines.collect::<Vec<_>>().join("\n").trim().to_owned()
}

fn snake_case(name: &str) -> String {
    let mut out = String::new();
    for (i, c) in name.char_indices() {
        if c.is_uppercase() && i > 0 {
            out.push('_');
        }
        out.extend(c.to_lowercase());
    }
    out
}

/// `#[input(Pattern, variadic, optional)]`.
struct Input {
    pattern: Ident,
    variadic: bool,
    optional: bool,
}

impl Parse for Input {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let words = input.parse_terminated(Ident::parse, Token![,])?;
        let mut words = words.into_iter();
        let pattern = words.next().ok_or_else(|| input.error("expected Any, Tensor or Scalar"))?;
        let mut parsed = Self { pattern, variadic: false, optional: false };
        for word in words {
            match word.to_string().as_str() {
                "variadic" => parsed.variadic = true,
                "optional" => parsed.optional = true,
                _ => return Err(Error::new(word.span(), "expected variadic or optional")),
            }
        }
        Ok(parsed)
    }
}

fn default_of(expr: &Expr) -> Result<TokenStream> {
    Ok(match expr {
        Expr::Lit(lit) => match &lit.lit {
            Lit::Bool(v) => quote!(AttrDefault::Bool(#v)),
            Lit::Int(v) => quote!(AttrDefault::Int(#v)),
            Lit::Float(v) => quote!(AttrDefault::Float(#v)),
            other => return Err(Error::new(other.span(), "a default is a bool, number, enum variant or None")),
        },
        Expr::Path(path) if path.path.is_ident("None") => quote!(AttrDefault::None),
        Expr::Path(path) => quote!(AttrDefault::Enum(#path as u8)),
        Expr::Unary(unary) => match &*unary.expr {
            Expr::Lit(ExprLit { lit: Lit::Float(_), .. }) => quote!(AttrDefault::Float(#unary)),
            _ => quote!(AttrDefault::Int(#unary)),
        },
        other => return Err(Error::new_spanned(other, "a default is a bool, number, enum variant or None")),
    })
}

struct Expansion {
    decls: Vec<TokenStream>,
    accessors: Vec<TokenStream>,
    new_params: Vec<TokenStream>,
    new_attrs: Vec<TokenStream>,
    inputs: usize,
    attributes: usize,
}

impl Expansion {
    fn input(&mut self, name: &Ident, doc: &str, input: &Input) {
        let (pattern, variadic, optional) = (&input.pattern, input.variadic, input.optional);
        let text = name.unraw().to_string();
        self.decls.push(quote! {
            ParamDecl {
                name: #text,
                doc: #doc,
                kind: ParamKind::Input { pattern: InputPattern::#pattern, variadic: #variadic, optional: #optional },
            }
        });
        let at = self.inputs;
        self.inputs += 1;
        let (result, body) = if variadic {
            (quote!(&'c [::tf_core::Expr<'c>]), quote!(&self.0.args[#at..]))
        } else if optional {
            (quote!(::core::option::Option<::tf_core::Expr<'c>>), quote!(self.0.args.get(#at).copied()))
        } else {
            (quote!(::tf_core::Expr<'c>), quote!(self.0.args[#at]))
        };
        self.accessors.push(quote! {
            #[doc = #doc]
            #[must_use]
            pub fn #name(&self) -> #result { #body }
        });
    }

    fn attribute(&mut self, name: &Ident, doc: &str, ty: &Type, default: Option<TokenStream>) {
        let text = name.unraw().to_string();
        let default = default.map_or(quote!(None), |d| quote!(Some(#d)));
        self.decls.push(quote! {
            ParamDecl {
                name: #text,
                doc: #doc,
                kind: ParamKind::Attribute {
                    kind: <#ty as AttrType>::KIND,
                    default: #default,
                    optional: <#ty as AttrType>::OPTIONAL,
                },
            }
        });
        let at = self.attributes;
        self.attributes += 1;
        self.accessors.push(quote! {
            #[doc = #doc]
            #[must_use]
            pub fn #name(&self) -> <#ty as ::tf_core::op::AttrType>::Value<'c> {
                <#ty as ::tf_core::op::AttrType>::decode(self.0.op.attrs()[#at])
            }
        });
        self.new_params.push(quote!(#name: <#ty as ::tf_core::op::AttrType>::Value<'c>));
        self.new_attrs.push(quote!(<#ty as ::tf_core::op::AttrType>::encode(#name, cx)));
    }

    fn field(&mut self, field: &Field) -> Result<()> {
        let name = field.ident.as_ref().ok_or_else(|| Error::new_spanned(field, "an op has named fields"))?;
        let doc = doc_of(&field.attrs);
        let find = |word: &str| field.attrs.iter().find(|a| a.path().is_ident(word));
        match find("input") {
            Some(attr) => self.input(name, &doc, &attr.parse_args()?),
            None => {
                let default = find("default").map(|a| default_of(&a.parse_args()?)).transpose()?;
                self.attribute(name, &doc, &field.ty, default);
            }
        }
        Ok(())
    }
}

/// The declaration, view and constructor of one op.
pub fn expand(args: &Args, item: &ItemStruct) -> Result<TokenStream> {
    let mut parts = Expansion {
        decls: Vec::new(),
        accessors: Vec::new(),
        new_params: Vec::new(),
        new_attrs: Vec::new(),
        inputs: 0,
        attributes: 0,
    };
    for field in &item.fields {
        parts.field(field)?;
    }
    let Expansion { decls, accessors, new_params, new_attrs, .. } = parts;
    let (ident, vis) = (&item.ident, &item.vis);
    let view = format_ident!("{ident}View");
    let doc = doc_of(&item.attrs);
    let (dialect, category) = (&args.dialect, &args.category);
    let name = args.name.as_ref().map_or_else(|| snake_case(&ident.to_string()), LitStr::value);
    let form = if args.effect { quote!(OpForm::Effect) } else { quote!(OpForm::Value) };
    let view_doc = format!("Typed view of a `{}.{name}` call.", dialect.value());
    let new_doc = format!("The `{}.{name}` with these attributes.", dialect.value());
    Ok(quote! {
        #[doc = #doc]
        #vis struct #ident;

        #[doc = #view_doc]
        #[derive(Clone, Copy, Debug)]
        #vis struct #view<'c>(::tf_core::op::OpView<'c>);

        impl<'c> ::core::convert::From<::tf_core::op::OpView<'c>> for #view<'c> {
            fn from(raw: ::tf_core::op::OpView<'c>) -> Self {
                Self(raw)
            }
        }

        impl<'c> #view<'c> {
            #(#accessors)*
        }

        impl #ident {
            #[doc = #new_doc]
            pub fn new<'c>(cx: &::tf_core::Context<'c>, #(#new_params),*) -> ::tf_core::op::OpInstance<'c> {
                cx.op::<Self>(&[#(#new_attrs),*])
            }
        }

        impl ::tf_core::op::Op for #ident {
            type View<'c> = #view<'c>;
            const DECL: &'static ::tf_core::op::OpDecl = {
                #[allow(unused_imports, reason = "an op need not have every kind of parameter")]
                use ::tf_core::op::{AttrDefault, AttrType, InputPattern, OpDecl, OpForm, OpName, ParamDecl, ParamKind};
                &OpDecl {
                    name: OpName::new(#dialect, #name),
                    category: #category,
                    doc: #doc,
                    form: #form,
                    params: &[#(#decls),*],
                }
            };
        }
    })
}
