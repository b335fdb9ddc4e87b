//! Where the constants of a reading come from.

use std::collections::BTreeSet;
use std::sync::Arc;

use tf_core::Diagnostic;
use tf_core::diag::did_you_mean;
use tf_types::{DType, TensorType};
use tf_value::io::{TensorInfo, TensorStore};
use tf_value::{Tensor, ValueError};

use crate::random::made_up;

/// Tensors by dotted name: the first of several places that has one, failing all made-up ones.
#[derive(Clone, Debug, Default)]
pub struct Resource {
    places: Vec<(Arc<dyn TensorStore>, String)>,
    random: Option<u64>,
}

/// A tensor that a resource has.
#[derive(Clone, Debug)]
pub struct Found {
    store: Arc<dyn TensorStore>,
    /// Its name there.
    key: String,
    /// What is stored.
    pub info: TensorInfo,
}

impl Resource {
    /// One store.
    #[must_use]
    pub fn new(store: Arc<dyn TensorStore>) -> Self {
        Self { places: vec![(store, String::new())], random: None }
    }

    /// Looks in this store too, for names with that prefix.
    #[must_use]
    pub fn or(mut self, store: Arc<dyn TensorStore>, prefix: impl Into<String>) -> Self {
        self.places.push((store, prefix.into()));
        self
    }

    /// Makes up, from this seed, what no store has.
    #[must_use]
    pub fn or_random(mut self, seed: Option<u64>) -> Self {
        self.random = seed;
        self
    }

    /// The tensor of that name, if a store has it.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<Found> {
        self.places.iter().find_map(|(store, prefix)| {
            let key = format!("{prefix}{name}");
            let info = store.info(&key)?;
            Some(Found { store: Arc::clone(store), key, info })
        })
    }

    /// Whether it makes up what no store has.
    #[must_use]
    pub fn makes_up(&self) -> bool {
        self.random.is_some()
    }

    /// A made-up tensor, if the resource makes any up.
    #[must_use]
    pub fn make_up(&self, name: &str, ty: &TensorType<'_>, shape: &[usize]) -> Option<Result<Tensor, ValueError>> {
        Some(made_up(self.random?, name, ty.dtype, shape))
    }

    /// Adds to an error about names that there are not which ones there are, and whether one was meant: none of those that something
    /// else takes.
    #[must_use]
    pub fn explain(&self, mut error: Diagnostic, missing: &[&str], taken: &BTreeSet<String>) -> Diagnostic {
        if self.places.is_empty() {
            return error
                .with_help("name a file with `inputs=FILE` or `weights=FILE`, or make tensors up with `random=SEED`");
        }
        let mut seen: Vec<&Arc<dyn TensorStore>> = Vec::new();
        for (store, _) in &self.places {
            if !seen.iter().any(|other| Arc::ptr_eq(other, store)) {
                seen.push(store);
                error = error.with_note(None, names(store.as_ref()));
            }
        }
        let near = missing.iter().find_map(|name| self.near(name, taken));
        if let Some(near) = near { error.with_help(format!("did you mean `{near}`?")) } else { error }
    }

    /// A name like this one that some store has and nothing else takes.
    fn near(&self, name: &str, taken: &BTreeSet<String>) -> Option<String> {
        let known = self.places.iter().flat_map(|(store, prefix)| {
            store.names().into_iter().filter_map(|known| known.strip_prefix(prefix.as_str()).map(str::to_owned))
        });
        let known: Vec<String> = known.filter(|known| known != name && !taken.contains(known)).collect();
        did_you_mean(name, known.iter().map(String::as_str)).map(str::to_owned)
    }

    /// What stands before a name with a dot, in the first of a store's names that ends so.
    #[must_use]
    pub fn before(&self, name: &str) -> Option<String> {
        let mut known = self.places.iter().flat_map(|(store, _)| store.names());
        known.find_map(|known| known.strip_suffix(name).filter(|prefix| prefix.ends_with('.')).map(str::to_owned))
    }

    /// A line about the names that are not among those taken; `None` where there are none.
    #[must_use]
    pub fn unused(&self, taken: &BTreeSet<String>) -> Option<String> {
        let (mut unused, mut labels) = (Vec::new(), Vec::new());
        for (store, prefix) in &self.places {
            let names = store.names().into_iter();
            let names =
                names.filter(|name| name.strip_prefix(prefix.as_str()).is_some_and(|name| !taken.contains(name)));
            unused.extend(names);
            labels.push(store.label());
        }
        (!unused.is_empty()).then(|| format!("unused of {}: {}", labels.join(", "), listed(&unused)))
    }

    /// How the names of a tensor read in each place: `` `a.w` in FILE``.
    #[must_use]
    pub fn tried(&self, name: &str) -> Vec<String> {
        self.places.iter().map(|(store, prefix)| format!("`{prefix}{name}` in {}", store.label())).collect()
    }
}

impl Found {
    /// The tensor as `dtype`.
    ///
    /// # Errors
    /// The stored dtype is not read, the cast is refused, or the file cannot be read.
    pub fn read(&self, dtype: DType) -> Result<Tensor, ValueError> {
        let gone = || ValueError::new(format!("{} has no tensor `{}`", self.store.label(), self.key));
        self.store.get_as(&self.key, dtype).unwrap_or_else(|| Err(gone()))
    }

    /// The device that it lies on.
    #[must_use]
    pub fn device(&self) -> &str {
        self.store.device(&self.key)
    }

    /// Which file has it.
    #[must_use]
    pub fn label(&self) -> String {
        self.store.label()
    }
}

/// How many names of a file a message lists.
const LISTED: usize = 24;

fn names(store: &dyn TensorStore) -> String {
    let names = store.names();
    format!("{} has {}", store.label(), if names.is_empty() { "no tensors".to_owned() } else { listed(&names) })
}

fn listed(names: &[String]) -> String {
    let more = names.len().saturating_sub(LISTED);
    let listed: Vec<_> = names.iter().take(LISTED).map(|name| format!("`{name}`")).collect();
    listed.join(", ") + &if more > 0 { format!(" and {more} more") } else { String::new() }
}
