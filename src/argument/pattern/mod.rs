//! ECMA-262 patterns. (stand-in while the engine is built on its own branch)
use crate::budget::{Budget, Exhausted};
/// P.
#[derive(Debug)]
pub struct Pattern(regex::bytes::Regex);
impl Pattern {
    /// C.
    pub fn compile(source: &[u8]) -> Result<Pattern, ()> {
        regex::bytes::Regex::new(&String::from_utf8_lossy(source)).map(Pattern).map_err(|_| ())
    }
    /// M.
    pub fn is_match(&self, text: &[u8], budget: &mut Budget<'_>) -> Result<bool, Exhausted> {
        budget.spend(1)?;
        Ok(self.0.is_match(text))
    }
}
