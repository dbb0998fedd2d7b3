//! The documents of one check: the schema's, the submission's, and those that repairs parsed.

use std::ops::Deref;
use std::sync::Arc;

use super::place::At;
use crate::json::{Document, Text, Value};

/// A document that is borrowed from the caller or shared.
#[derive(Debug, Clone)]
pub(super) enum Held<'a> {
    Borrowed(&'a Document),
    Shared(Arc<Document>),
}

impl Deref for Held<'_> {
    type Target = Document;

    fn deref(&self) -> &Document {
        match self {
            Held::Borrowed(document) => document,
            Held::Shared(document) => document,
        }
    }
}

/// The schema's document, in which `enum` entries and the names of missing members lie.
pub(super) const SCHEMA: u32 = 0;
/// The submission's document, or the text's once it is parsed.
pub(super) const SUBMISSION: u32 = 1;

/// The documents by number.
#[derive(Debug)]
pub(super) struct Documents<'a>(Vec<Held<'a>>);

impl<'a> Documents<'a> {
    pub(super) fn new(schema: Held<'a>, submission: Held<'a>) -> Self {
        Documents(vec![schema, submission])
    }

    /// Keeps a document; gives its number.
    pub(super) fn hold(&mut self, document: Arc<Document>) -> u32 {
        let number = u32::try_from(self.0.len()).unwrap_or(u32::MAX);
        self.0.push(Held::Shared(document));
        number
    }

    pub(super) fn value(&self, at: At) -> Option<Value<'_>> {
        self.0.get(at.document as usize).map(|document| document.value_at(at.node))
    }

    pub(super) fn text(&self, at: At) -> Text<'_> {
        self.0.get(at.document as usize).map_or(Text::EMPTY, |document| document.text_at(at.node))
    }
}
