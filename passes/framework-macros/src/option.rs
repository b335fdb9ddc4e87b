//! Expansion of `derive(OptionValue)`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Error, Fields, Result};

fn kebab_case(name: &str) -> String {
    let mut out = String::new();
    for (i, c) in name.char_indices() {
        if c.is_uppercase() && i > 0 {
            out.push('-');
        }
        out.extend(c.to_lowercase());
    }
    out
}

pub fn expand(item: &DeriveInput) -> Result<TokenStream> {
    let Data::Enum(data) = &item.data else {
        return Err(Error::new_spanned(item, "only an enum has a closed set of words"));
    };
    if let Some(variant) = data.variants.iter().find(|v| !matches!(v.fields, Fields::Unit)) {
        return Err(Error::new_spanned(variant, "a word has no fields"));
    }
    let ident = &item.ident;
    let variants: Vec<_> = data.variants.iter().map(|v| &v.ident).collect();
    let names: Vec<_> = variants.iter().map(|v| kebab_case(&v.to_string())).collect();
    let Some(first) = variants.first() else {
        return Err(Error::new_spanned(item, "an option needs at least one word"));
    };
    Ok(quote! {
        impl ::tf_framework::OptionValue for #ident {
            const KIND: ::tf_framework::OptionKind = ::tf_framework::OptionKind::Word(&[#(#names),*]);
            fn initial() -> Self {
                Self::#first
            }
            fn parse(parts: &[::std::string::String]) -> ::core::result::Result<Self, ::std::string::String> {
                match ::tf_framework::option::single(parts)? {
                    #(#names => Ok(Self::#variants),)*
                    other => Err(::tf_framework::option::unknown_word(other, &[#(#names),*])),
                }
            }
            fn show(&self) -> ::core::option::Option<::std::vec::Vec<::std::string::String>> {
                let name = match self {
                    #(Self::#variants => #names,)*
                };
                Some(::std::vec![name.to_owned()])
            }
        }
    })
}
