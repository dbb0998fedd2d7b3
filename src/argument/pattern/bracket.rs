//! Bracketed classes: `[…]` and `[^…]`.

use super::PatternError;
use super::ast::NodeId;
use super::class::Builder;
use super::escape::SetEscape;
use super::parse::Parser;

impl Parser<'_> {
    /// A class; its `[` is read already.
    pub(super) fn bracket(&mut self) -> Result<NodeId, PatternError> {
        let negated = self.eat(b'^');
        let mut builder = Builder::default();
        loop {
            if self.eat(b']') {
                return Ok(self.class(builder.finish(negated)));
            }
            let low = self.bracket_atom(&mut builder)?;
            let dash = self.at;
            if !self.eat(b'-') {
                add_single(&mut builder, low);
                continue;
            }
            if self.peek() == Some(b']') {
                add_single(&mut builder, low);
                add_single(&mut builder, Some(u32::from(b'-')));
                continue;
            }
            let high = self.bracket_atom(&mut builder)?;
            match (low, high) {
                (Some(low), Some(high)) if low <= high => builder.add(low, high),
                (Some(_), Some(_)) => {
                    return Err(PatternError { offset: dash, reason: "range out of order" });
                }
                _ if self.unicode => {
                    return Err(PatternError { offset: dash, reason: "range with a set as a bound" });
                }
                _ => {
                    add_single(&mut builder, low);
                    add_single(&mut builder, high);
                    add_single(&mut builder, Some(u32::from(b'-')));
                }
            }
        }
    }

    /// One member: its code point, or none where it is a set, which is added at once.
    fn bracket_atom(&mut self, builder: &mut Builder) -> Result<Option<u32>, PatternError> {
        let Some(code) = self.next() else { return Err(self.error("unterminated class")) };
        if code != u32::from(b'\\') {
            return Ok(Some(code));
        }
        if self.eat(b'b') {
            return Ok(Some(0x8));
        }
        match self.set_escape()? {
            Some(SetEscape::Named(named, complemented)) => builder.add_named(named, complemented),
            Some(SetEscape::Property(set, complemented)) => builder.add_property(set, complemented),
            None => return self.character_escape(true).map(Some),
        }
        Ok(None)
    }
}

fn add_single(builder: &mut Builder, code: Option<u32>) {
    if let Some(code) = code {
        builder.add(code, code);
    }
}
