//! Where the references of a schema lead, as far as they stay in its document. Rather one target too many than
//! one too few: this is to find circles and costs. What each leads to exactly is the crate's business.

use std::collections::HashMap;

use serde_json::Value as Tree;

/// The places that references can name.
pub(super) struct References<'s> {
    root: &'s Tree,
    /// By `$anchor`, `$dynamicAnchor`, or an `$id` that is a fragment.
    anchors: HashMap<&'s str, Vec<&'s Tree>>,
    /// By the last step of their `$id`, with the whole of it.
    resources: HashMap<&'s str, Vec<(&'s str, &'s Tree)>>,
    /// The innermost resource that each value belongs to.
    around: HashMap<*const Tree, &'s Tree>,
    /// Those with `$recursiveAnchor`.
    recursive: Vec<&'s Tree>,
}

/// A reference that leads to nothing in the document.
#[derive(Debug, Clone, Copy)]
pub(super) struct Astray<'s> {
    pub(super) keyword: &'static str,
    pub(super) reference: &'s str,
}

impl<'s> References<'s> {
    pub(super) fn new(root: &'s Tree) -> References<'s> {
        let mut references = References {
            root,
            anchors: HashMap::new(),
            resources: HashMap::new(),
            around: HashMap::new(),
            recursive: Vec::new(),
        };
        references.collect(root, root);
        references
    }

    fn collect(&mut self, value: &'s Tree, around: &'s Tree) {
        let mut inner = around;
        if let Tree::Object(members) = value {
            let text = |name: &str| members.get(name).and_then(Tree::as_str);
            for id in ["$id", "id"].into_iter().filter_map(text) {
                if let Some(anchor) = id.strip_prefix('#') {
                    self.anchors.entry(anchor).or_default().push(value);
                } else {
                    inner = value;
                    self.resources.entry(last_step(id)).or_default().push((id, value));
                }
            }
            for anchor in ["$anchor", "$dynamicAnchor"].into_iter().filter_map(text) {
                self.anchors.entry(anchor).or_default().push(value);
            }
            if members.get("$recursiveAnchor") == Some(&Tree::Bool(true)) {
                self.recursive.push(value);
            }
            for value in members.values() {
                self.collect(value, inner);
            }
        } else if let Tree::Array(items) = value {
            for value in items {
                self.collect(value, inner);
            }
        }
        self.around.insert(value, inner);
    }

    /// What the references of a schema may lead to, and the keyword and value of one that leads to nothing here:
    /// to a meta-schema, or the crate will refuse it.
    pub(super) fn of(&self, schema: &'s Tree) -> (Vec<&'s Tree>, Option<Astray<'s>>) {
        let text = |name: &str| schema.get(name).and_then(Tree::as_str);
        let resource = self.around.get(&std::ptr::from_ref(schema)).copied().unwrap_or(self.root);
        let mut targets = Vec::new();
        let mut astray = None;
        for keyword in ["$ref", "$dynamicRef"] {
            let Some(reference) = text(keyword) else { continue };
            let before = targets.len();
            self.resolve(reference, resource, &mut targets);
            if targets.len() == before {
                astray = Some(Astray { keyword, reference });
            }
        }
        if text("$recursiveRef").is_some() {
            targets.push(resource);
            targets.extend(&self.recursive);
        }
        targets.sort_by_key(|target| std::ptr::from_ref(*target));
        targets.dedup_by_key(|target| std::ptr::from_ref(*target));
        (targets, astray)
    }

    fn resolve(&self, reference: &str, resource: &'s Tree, targets: &mut Vec<&'s Tree>) {
        let (uri, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let bases: Vec<&Tree> = if uri.is_empty() {
            vec![resource, self.root]
        } else {
            let alike = self.resources.get(last_step(uri)).map(Vec::as_slice).unwrap_or_default();
            let same = alike.iter().any(|(id, _)| *id == uri);
            alike.iter().filter(|(id, _)| !same || *id == uri).map(|(_, resource)| *resource).collect()
        };
        let fragment = percent_decoded(fragment);
        if fragment.is_empty() {
            let bases = if uri.is_empty() { bases.get(..1).unwrap_or_default() } else { &bases };
            targets.extend(bases);
        } else if fragment.starts_with('/') {
            let mut found = bases.iter().filter_map(|base| base.pointer(&fragment));
            if uri.is_empty() { targets.extend(found.next()) } else { targets.extend(found) }
        } else {
            targets.extend(self.anchors.get(fragment.as_str()).into_iter().flatten());
        }
    }
}

fn last_step(uri: &str) -> &str {
    let uri = uri.strip_suffix('#').unwrap_or(uri);
    uri.trim_end_matches('/').rsplit(['/', ':']).next().unwrap_or(uri)
}

fn percent_decoded(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.as_bytes().iter();
    while let Some(byte) = bytes.next() {
        let hex = (*byte == b'%').then(|| bytes.as_slice().get(..2)).flatten();
        let decoded = hex.and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        if decoded.is_some() {
            bytes.nth(1);
        }
        out.push(decoded.unwrap_or(*byte));
    }
    String::from_utf8_lossy(&out).into_owned()
}
