//! What the engines say of a published body: a refusal, or something that can be reported.

use std::sync::Arc;

use super::Op;
use crate::argument::{self, Check, MAX_BODY_BYTES};
use crate::budget::{Budget, Exhausted};
use crate::json::Document;
use crate::profile::tokens::{Tokenizer, WrongVocabulary};
use crate::profile::{self, Caps, Profile};

/// The longest published body, in bytes, the same for both criteria. Here it is the body as sent.
pub const BODY_CAP: usize = MAX_BODY_BYTES;
const _: () = assert!(BODY_CAP == Caps::PUBLISHED.body_bytes);

/// The engine of an operation.
#[derive(Debug, Clone, Copy)]
pub enum Engine {
    /// `tool-argument/v1`.
    Argument,
    /// `token-efficiency/v1`, and what it counts with.
    Profile(&'static Tokenizer),
}

/// A body that could be assessed.
#[derive(Debug)]
pub enum Assessed {
    /// By `tool-argument/v1`, and the body that it was about.
    Argument(Box<Check<'static>>, Arc<Document>),
    /// By `token-efficiency/v1`.
    Profile(Profile),
}

/// A free refusal, as published.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refusal {
    /// The code.
    pub code: &'static str,
    /// The rule that a malformed catalogue breaks.
    pub rule: Option<&'static str>,
}

/// Why a body is not assessed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// It is refused.
    Refused(Refusal),
    /// The budget is spent.
    Exhausted(Exhausted),
}

impl Refusal {
    /// A body over [`BODY_CAP`].
    pub const BODY_OVER_CAP: Refusal = Refusal { code: "CAP-EXCEEDED:body_bytes", rule: None };
    /// A body that is not JSON.
    pub const INVALID_BODY: Refusal = Refusal { code: "invalid_request_body", rule: None };
}

impl Engine {
    /// The engine of `op`.
    ///
    /// # Errors
    /// [`WrongVocabulary`].
    pub fn of(op: Op) -> Result<Engine, WrongVocabulary> {
        match op {
            Op::ArgumentCheck => Ok(Engine::Argument),
            Op::SplitProfile => Tokenizer::shared().map(Engine::Profile),
        }
    }

    /// Assesses a body.
    ///
    /// # Errors
    /// See [`Stop`].
    pub fn assess(self, body: &Arc<Document>, budget: &mut Budget<'_>) -> Result<Assessed, Stop> {
        match self {
            Engine::Argument => match argument::check_request_document(Arc::clone(body), budget) {
                Ok(check) => Ok(Assessed::Argument(Box::new(check), Arc::clone(body))),
                Err(argument::Stop::Refused(refusal, _)) => {
                    Err(Stop::Refused(Refusal { code: refusal.code(), rule: None }))
                }
                Err(argument::Stop::Exhausted(exhausted)) => Err(Stop::Exhausted(exhausted)),
            },
            Engine::Profile(tokenizer) => {
                match profile::profile_request(tokenizer, body.root(), Caps::PUBLISHED, budget) {
                    Ok(profile) => Ok(Assessed::Profile(profile)),
                    Err(profile::Stop::Refused(refusal)) => {
                        Err(Stop::Refused(Refusal { code: refusal.code(), rule: refusal.rule() }))
                    }
                    Err(profile::Stop::Exhausted(exhausted)) => Err(Stop::Exhausted(exhausted)),
                }
            }
        }
    }
}
