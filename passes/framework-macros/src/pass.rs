//! Expansion of `derive(Pass)`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::meta::ParseNestedMeta;
use syn::{Attribute, Data, DeriveInput, Error, Expr, Field, Ident, Lit, LitStr, Meta, Result, Type};

/// `#[pass(name = "…", requires("…"), preserves("…"), rounds, fast_math(FIELD))]`.
struct Header {
    name: LitStr,
    rounds: bool,
    fast_math: Option<Ident>,
    requires: Vec<LitStr>,
    preserves: Vec<LitStr>,
}

impl Header {
    fn of(item: &DeriveInput) -> Result<Self> {
        let missing = || Error::new_spanned(&item.ident, "`#[pass(name = \"…\")]` is missing");
        let attr = item.attrs.iter().find(|a| a.path().is_ident("pass")).ok_or_else(missing)?;
        let (mut name, mut requires, mut preserves) = (None, Vec::new(), Vec::new());
        let (mut rounds, mut fast_math) = (false, None);
        let list = |meta: &ParseNestedMeta<'_>| {
            let list;
            syn::parenthesized!(list in meta.input);
            let parse = |input: syn::parse::ParseStream<'_>| input.parse::<LitStr>();
            list.parse_terminated(parse, syn::Token![,])
        };
        attr.parse_nested_meta(|meta| {
            if meta.path.is_ident("name") {
                name = Some(meta.value()?.parse::<LitStr>()?);
            } else if meta.path.is_ident("requires") {
                requires.extend(list(&meta)?);
            } else if meta.path.is_ident("preserves") {
                preserves.extend(list(&meta)?);
            } else if meta.path.is_ident("rounds") {
                rounds = true;
            } else if meta.path.is_ident("fast_math") {
                let field;
                syn::parenthesized!(field in meta.input);
                fast_math = Some(field.parse::<Ident>()?);
            } else {
                return Err(meta.error("expected name, requires, preserves, rounds or fast_math"));
            }
            Ok(())
        })?;
        Ok(Self { name: name.ok_or_else(missing)?, rounds, fast_math, requires, preserves })
    }
}

fn doc_of(attrs: &[Attribute]) -> String {
    let lines = attrs.iter().filter(|a| a.path().is_ident("doc")).filter_map(|a| match &a.meta {
        Meta::NameValue(pair) => match &pair.value {
            Expr::Lit(lit) => match &lit.lit {
                Lit::Str(text) => Some(text.value()),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    });
    let lines: Vec<_> = lines.map(|l| l.strip_prefix(' ').unwrap_or(&l).trim_end().to_owned()).collect();
    lines.join("\n").trim().to_owned()
}

struct OptionField<'a> {
    field: &'a Ident,
    ty: &'a Type,
    name: String,
    doc: String,
    default: Option<LitStr>,
}

#[derive(Default)]
struct Fields<'a> {
    options: Vec<OptionField<'a>>,
    statistics: Vec<(&'a Ident, LitStr)>,
    carried: Vec<(&'a Ident, &'a Type)>,
}

impl<'a> Fields<'a> {
    fn add(&mut self, field: &'a Field) -> Result<()> {
        let ident = field.ident.as_ref().ok_or_else(|| Error::new_spanned(field, "a pass has named fields"))?;
        let find = |word: &str| field.attrs.iter().find(|a| a.path().is_ident(word));
        let default = find("default").map(Attribute::parse_args::<LitStr>).transpose()?;
        match (find("option"), find("statistic")) {
            (Some(attr), None) => {
                let mut name = ident.to_string();
                if matches!(attr.meta, Meta::List(_)) {
                    attr.parse_nested_meta(|meta| {
                        if !meta.path.is_ident("name") {
                            return Err(meta.error("expected name"));
                        }
                        name = meta.value()?.parse::<LitStr>()?.value();
                        Ok(())
                    })?;
                }
                let doc = doc_of(&field.attrs);
                if doc.is_empty() {
                    return Err(Error::new_spanned(field, "an option needs a doc comment"));
                }
                self.options.push(OptionField { field: ident, ty: &field.ty, name, doc, default });
            }
            (None, Some(attr)) => self.statistics.push((ident, attr.parse_args()?)),
            (None, None) => self.carried.push((ident, &field.ty)),
            (Some(_), Some(attr)) => return Err(Error::new_spanned(attr, "an option is no statistic")),
        }
        Ok(())
    }
}

pub fn expand(item: &DeriveInput) -> Result<TokenStream> {
    let Data::Struct(data) = &item.data else {
        return Err(Error::new_spanned(item, "a pass is a struct"));
    };
    let header = Header::of(item)?;
    let mut fields = Fields::default();
    for field in &data.fields {
        fields.add(field)?;
    }
    let doc = doc_of(&item.attrs);
    if doc.is_empty() {
        return Err(Error::new_spanned(&item.ident, "a pass needs a doc comment"));
    }
    let (ident, vis) = (&item.ident, &item.vis);
    let Header { name: pass_name, rounds, fast_math, requires, preserves } = &header;
    let unless_fast =
        if *rounds { quote!(::tf_framework::Numerics::Rounds) } else { quote!(::tf_framework::Numerics::Exact) };
    let numerics = match fast_math {
        Some(field) => quote!(if self.#field { ::tf_framework::Numerics::FastMath } else { #unless_fast }),
        None => unless_fast,
    };

    let decls = fields.options.iter().map(|o| {
        let (name, doc, ty) = (&o.name, &o.doc, o.ty);
        let (default, required) = match &o.default {
            Some(text) => (quote!(Some(#text)), quote!(false)),
            None => (quote!(None), quote!(!<#ty as ::tf_framework::OptionValue>::OMISSIBLE)),
        };
        quote! {
            ::tf_framework::OptionDecl {
                name: #name,
                doc: #doc,
                kind: <#ty as ::tf_framework::OptionValue>::KIND,
                default: #default,
                required: #required,
            }
        }
    });
    let sets = fields.options.iter().enumerate().map(|(i, o)| {
        let field = o.field;
        quote!(#i => self.#field = ::tf_framework::OptionValue::parse(parts)?,)
    });
    let shows = fields.options.iter().enumerate().map(|(i, o)| {
        let field = o.field;
        quote!(#i => ::tf_framework::OptionValue::show(&self.#field),)
    });
    let pipelines = fields.options.iter().enumerate().map(|(i, o)| {
        let field = o.field;
        quote!(#i => ::tf_framework::OptionValue::set_pipeline(&mut self.#field, pipeline),)
    });
    let counts = fields.statistics.iter().map(|(field, _)| quote!(self.#field.get()));
    let texts = fields.statistics.iter().map(|(_, text)| text);

    let parameters = fields.carried.iter().map(|(field, ty)| quote!(#field: #ty));
    let carried = fields.carried.iter().map(|(field, _)| quote!(#field));
    let initial = fields.options.iter().map(|o| {
        let (field, ty) = (o.field, o.ty);
        match &o.default {
            Some(text) => quote!(#field: ::tf_framework::option::default_value::<#ty>(#text)),
            None => quote!(#field: <#ty as ::tf_framework::OptionValue>::initial()),
        }
    });
    let fresh = fields.statistics.iter().map(|(field, _)| quote!(#field: ::tf_framework::Counter::default()));
    let new_doc = format!("The pass `{}` with every option at its default.", pass_name.value());

    Ok(quote! {
        impl #ident {
            #[doc = #new_doc]
            #[must_use]
            #[allow(clippy::new_without_default, reason = "every pass is made the same way")]
            #vis fn new(#(#parameters),*) -> Self {
                Self { #(#initial,)* #(#fresh,)* #(#carried,)* }
            }
        }

        impl ::tf_framework::PassInfo for #ident {
            fn decl(&self) -> &'static ::tf_framework::PassDecl {
                const DECL: &::tf_framework::PassDecl = &::tf_framework::PassDecl {
                    name: #pass_name,
                    doc: #doc,
                    options: &[#(#decls),*],
                    statistics: &[#(#texts),*],
                    requires: &[#(#requires),*],
                    preserves: &[#(#preserves),*],
                };
                DECL
            }
            fn numerics(&self) -> ::tf_framework::Numerics {
                #numerics
            }
            fn set_option(
                &mut self,
                index: usize,
                parts: &[::std::string::String],
            ) -> ::core::result::Result<(), ::std::string::String> {
                match index {
                    #(#sets)*
                    _ => {
                        let _ = parts;
                    }
                }
                Ok(())
            }
            fn show_option(&self, index: usize) -> ::core::option::Option<::std::vec::Vec<::std::string::String>> {
                match index {
                    #(#shows)*
                    _ => None,
                }
            }
            fn set_pipeline(&mut self, index: usize, pipeline: ::std::sync::Arc<::tf_framework::Pipeline>) {
                match index {
                    #(#pipelines)*
                    _ => drop(pipeline),
                }
            }
            fn statistics(&self) -> ::std::vec::Vec<u64> {
                ::std::vec![#(#counts),*]
            }
        }
    })
}
