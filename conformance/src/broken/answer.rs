//! What the bundled dock answers: the order of a good dock, with one fault in it.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::Options;
use super::check::{self, Outcome, Search};
use super::fault::Fault;
use crate::contract::{MAX_REQUEST_BYTES, PROBE};
use crate::json::{self, Json, Value};
use crate::keys::contains;

/// A request's head, as far as it matters.
#[derive(Debug, Default)]
pub(super) struct Head {
    pub(super) method: String,
    pub(super) path: String,
    pub(super) authorization: Option<String>,
    pub(super) http2: bool,
}

/// What came of reading a body: its pieces as they came.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Heard {
    Whole(Vec<Vec<u8>>),
    TooLarge,
    /// The time for it is over.
    Late,
    Broken,
}

/// What happens on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wire {
    Normal,
    HangUp,
    Garbage,
    Cut,
}

/// An answer.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) fields: Vec<(&'static str, String)>,
    pub(super) body: Vec<u8>,
    pub(super) delay: Duration,
    pub(super) wire: Wire,
}

/// A dock with one fault.
#[derive(Debug)]
pub(super) struct Dock {
    pub(super) fault: Fault,
    pub(super) options: Options,
    probes: AtomicUsize,
    objects: AtomicUsize,
}

impl Dock {
    pub(super) fn new(fault: Fault, options: Options) -> Dock {
        Dock { fault, options, probes: AtomicUsize::new(0), objects: AtomicUsize::new(0) }
    }

    /// How long a body may take.
    pub(super) fn body_deadline(&self) -> Duration {
        match self.fault {
            Fault::Impatient => self.options.timing.slow_body / 3,
            Fault::Patient => self.options.timing.run * 10,
            _ => self.options.timing.run / 2,
        }
    }

    /// The most bytes of a body.
    pub(super) fn cap(&self) -> usize {
        match self.fault {
            Fault::SmallCap => 64 * 1024,
            Fault::NoCap => MAX_REQUEST_BYTES * 4,
            _ => MAX_REQUEST_BYTES,
        }
    }

    /// The answer that the head alone decides.
    pub(super) fn before_body(&self, head: &Head) -> Option<Reply> {
        match self.fault {
            Fault::Redirect => {
                let mut reply = self.error(307, "moved");
                reply.fields.push(("location", format!("{}/", head.path)));
                return Some(reply);
            }
            Fault::NotFound => return Some(self.error(404, "not_found")),
            Fault::RefuseChunked if head.method == "POST" => return Some(self.error(411, "length_required")),
            _ => {}
        }
        if head.method != "POST" && self.fault != Fault::AnyMethod {
            let mut reply = self.error(405, "method_not_allowed");
            if self.fault != Fault::NoAllow {
                reply.fields.push(("allow", "POST".to_owned()));
            }
            return Some(reply);
        }
        let later =
            matches!(self.fault, Fault::KeyAfterBody | Fault::KeyAfterParsing | Fault::ProbeBeforeAccess);
        if later { None } else { self.access(head) }
    }

    /// The refusal of a head without an accepted key.
    fn access(&self, head: &Head) -> Option<Reply> {
        let keys = &self.options.keys;
        if keys.is_empty() && self.fault != Fault::DemandsKey {
            return None;
        }
        let sent = head.authorization.as_deref().unwrap_or_default();
        let key = sent.split_once(' ').and_then(|(scheme, key)| {
            let known = match self.fault {
                Fault::SchemeCase => scheme == "Bearer",
                _ => scheme.eq_ignore_ascii_case("bearer"),
            };
            known.then_some(key)
        });
        let accepted = key.is_some_and(|sent| match self.fault {
            Fault::RefusesAllKeys | Fault::DemandsKey => false,
            Fault::AnyKey => true,
            Fault::OneKey => keys.first().is_some_and(|key| key == sent),
            Fault::KeyPrefix => keys.iter().any(|key| sent.starts_with(key.as_str())),
            Fault::RetiredWorks => keys.iter().chain(&self.options.retired).any(|key| key == sent),
            _ => keys.iter().any(|key| key == sent),
        });
        if accepted || self.fault == Fault::OpenDoor {
            return None;
        }
        let mut reply = self.error(if self.fault == Fault::Forbidden { 403 } else { 401 }, "unauthorized");
        if self.fault != Fault::NoChallenge {
            reply.fields.push(("www-authenticate", "Bearer".to_owned()));
        }
        Some(reply)
    }

    /// The answer once the body is there.
    pub(super) fn after_body(&self, head: &Head, body: Heard) -> Reply {
        let late = matches!(body, Heard::Late) && self.fault == Fault::PartialBody;
        if late || head.method != "POST" {
            let nothing = Outcome::Verdict { present: false, in_range: false, from_text: false };
            return self.verdict(head, &Value::Null, nothing);
        }
        let pieces = match body {
            Heard::Whole(pieces) => pieces,
            Heard::TooLarge => return self.error(413, "request_too_large"),
            Heard::Late => return self.error(408, "request_timeout"),
            Heard::Broken => return self.error(400, "malformed_request"),
        };
        let body = pieces.concat();
        let exact_probe = body == format!("{{\"candidate\":{PROBE}}}").into_bytes();
        let refused = match self.fault {
            Fault::KeyAfterBody => self.access(head),
            Fault::ProbeBeforeAccess if !exact_probe => self.access(head),
            _ => None,
        };
        if let Some(reply) = refused.or_else(|| self.refuse_pieces(&pieces)) {
            return reply;
        }
        match self.candidate(&body, head) {
            Ok(candidate) => self.judge(head, &body, &candidate),
            Err(reply) => reply,
        }
    }

    fn refuse_pieces(&self, pieces: &[Vec<u8>]) -> Option<Reply> {
        let broken = match self.fault {
            Fault::Utf8PerChunk => pieces.iter().any(|piece| std::str::from_utf8(piece).is_err()),
            Fault::FewChunks => pieces.len() > 32,
            _ => false,
        };
        broken.then(|| self.error(400, "malformed_request"))
    }

    fn candidate(&self, body: &[u8], head: &Head) -> Result<Json, Reply> {
        let lossy = String::from_utf8_lossy(body);
        let bytes = if self.fault == Fault::LossyUtf8 { lossy.as_bytes() } else { body };
        let null = Json { value: Value::Null, at: 0..0 };
        if body.is_empty() && self.fault == Fault::EmptyAsNull {
            return Ok(null);
        }
        let read = json::read(bytes);
        if self.fault == Fault::KeyAfterParsing && read.is_ok() {
            self.access(head).map_or(Ok(()), Err)?;
        }
        let Ok(json) = read else {
            if self.fault == Fault::MalformedRejected {
                return Ok(null);
            }
            return Err(self.quoting(400, "malformed_request", body));
        };
        let members = json.members().unwrap_or_default();
        let candidates = members.iter().filter(|(name, _)| name == "candidate").count();
        let too_many = candidates > 1 && self.fault != Fault::DuplicateCandidate;
        let beside = members.len() > candidates && self.fault != Fault::ExtraMember;
        match json.member("candidate") {
            None if self.fault == Fault::MissingAsNull => Ok(null),
            None => Err(self.quoting(400, "missing_candidate", body)),
            Some(_) if too_many || beside => Err(self.quoting(400, "malformed_request", body)),
            Some(candidate) => Ok(candidate.clone()),
        }
    }

    fn judge(&self, head: &Head, body: &[u8], candidate: &Json) -> Reply {
        let probe = json::read(PROBE.as_bytes()).ok().map(|json| json.value);
        let is_probe = matches!(&candidate.value, Value::Object(members) if members.len() == 1)
            && probe.is_some_and(|probe| same(&probe, &candidate.value));
        if is_probe {
            return self.probe();
        }
        if Search::EVERYWHERE.finds(candidate) {
            return self.marked(body, candidate);
        }
        if let Some(reply) = self.unusual(candidate) {
            return reply;
        }
        self.verdict(head, &candidate.value, check::check(candidate))
    }

    fn probe(&self) -> Reply {
        let count = self.probes.fetch_add(1, Ordering::Relaxed) + 1;
        let mut reply = match self.fault {
            Fault::ProbeFails => self.error(500, "check_failed"),
            Fault::ProbeOnce if count == 4 => self.error(429, "rate_limited"),
            Fault::ProbeChanges if count == 4 => self.ok(r#"{"is_correct":false,"quality_score":0.5}"#),
            Fault::ProbeScores => self.ok(r#"{"is_correct":false,"quality_score":0.5}"#),
            Fault::ProbePasses => self.ok(r#"{"is_correct":true,"quality_score":1}"#),
            _ => self.ok(r#"{"is_correct":false,"quality_score":0}"#),
        };
        if self.fault == Fault::SlowProbe {
            reply.delay = self.options.timing.probe * 2;
        }
        reply
    }

    /// A candidate with the marker; a fault may not see it.
    fn marked(&self, body: &[u8], candidate: &Json) -> Reply {
        let everywhere = Search::EVERYWHERE;
        let seen = match self.fault {
            Fault::MarkerExactOnly => false,
            Fault::MarkerRawBytes => contains(body, b"solverapi_probe"),
            Fault::MarkerNotInText => Search { text: false, nested: false, ..everywhere }.finds(candidate),
            Fault::MarkerNotNested => Search { nested: false, ..everywhere }.finds(candidate),
            Fault::MarkerStrictText => Search { mended: false, ..everywhere }.finds(candidate),
            Fault::MarkerLastWins => Search { shadowed: false, ..everywhere }.finds(candidate),
            _ => true,
        };
        match self.fault {
            _ if !seen => self.ok(r#"{"is_correct":true,"quality_score":1}"#),
            Fault::MarkerScored => self.ok(r#"{"is_correct":false,"quality_score":0.5}"#),
            Fault::MarkerChecked => {
                self.ok(r#"{"is_correct":false,"quality_score":0,"anchor_results":{"amount_present":false}}"#)
            }
            _ => self.ok(r#"{"is_correct":false,"quality_score":0}"#),
        }
    }

    /// What certain candidates do to certain docks.
    fn unusual(&self, candidate: &Json) -> Option<Reply> {
        let is_array = matches!(candidate.value, Value::Array(_)) && check::depth(candidate) < 10;
        let is_object = matches!(candidate.value, Value::Object(_));
        let infinite = |json: &Json| json.number().is_some_and(f64::is_infinite);
        let replaced = |json: &Json| json.text().is_some_and(|text| text.contains('\u{fffd}'));
        let wire = |wire| Some(Reply { wire, ..self.ok(r#"{"is_correct":false,"quality_score":0}"#) });
        match self.fault {
            Fault::HangUp if is_array => wire(Wire::HangUp),
            Fault::Garbage if is_array => wire(Wire::Garbage),
            Fault::CutAnswer if is_array => wire(Wire::Cut),
            Fault::HugeAnswer if is_array => {
                Some(self.ok(&" ".repeat(crate::contract::MAX_RESPONSE_BYTES + 1)))
            }
            Fault::SlowRun if is_array => {
                let reply = self.ok(r#"{"is_correct":false,"quality_score":0}"#);
                Some(Reply { delay: self.options.timing.run * 2, ..reply })
            }
            Fault::ObjectsOnly if !is_object => Some(self.error(400, "candidate_not_object")),
            Fault::KnownObjectsOnly if is_object && candidate.member("amount").is_none() => {
                Some(self.error(400, "amount_missing"))
            }
            Fault::HugeNumber if check::any(candidate, &infinite) => Some(self.error(500, "check_failed")),
            Fault::LoneSurrogate if check::any(candidate, &replaced) => Some(self.error(500, "check_failed")),
            Fault::DuplicateNames if check::any(candidate, &Json::repeats_a_name) => {
                Some(self.error(500, "check_failed"))
            }
            Fault::Shallow if check::depth(candidate) > 64 => Some(self.error(500, "check_failed")),
            _ => None,
        }
    }

    fn verdict(&self, head: &Head, candidate: &Value, outcome: Outcome) -> Reply {
        let Outcome::Verdict { present, in_range, from_text } = outcome else {
            return match self.fault {
                Fault::CrashRejected => self.ok(r#"{"is_correct":false,"quality_score":0}"#),
                _ => self.error(500, "check_failed"),
            };
        };
        let mut correct =
            if in_range || self.fault == Fault::ApprovesAll { "true" } else { "false" }.to_owned();
        let mut score = f64::from(u8::from(present) + u8::from(in_range)) / 2.0;
        if self.fault == Fault::Unrepeatable && matches!(candidate, Value::Object(_)) && !present {
            score = if self.objects.fetch_add(1, Ordering::Relaxed).is_multiple_of(2) { 0.0 } else { 0.125 };
        }
        if self.fault == Fault::Http2Differs && head.http2 {
            score = 0.75;
        }
        let mut score = match self.fault {
            Fault::FlatScore => "0.25".to_owned(),
            Fault::ScoreText => format!("\"{score}\""),
            Fault::ScorePercent => format!("{}", score * 100.0),
            Fault::ScoreNegative => "-0.5".to_owned(),
            Fault::ScoreInfinite => "1e400".to_owned(),
            Fault::NotANumber => "NaN".to_owned(),
            _ => format!("{score}"),
        };
        if self.fault == Fault::IsCorrectText {
            correct = format!("\"{correct}\"");
        } else if self.fault == Fault::IsCorrectNumber {
            correct = u8::from(in_range).to_string();
        }
        correct = format!("\"is_correct\":{correct},");
        score = format!("\"quality_score\":{score}");
        match self.fault {
            Fault::IsCorrectMissing => correct.clear(),
            Fault::ScoreMissing => "\"score\":1".clone_into(&mut score),
            Fault::RepeatedName => correct = format!("\"is_correct\":false,{correct}"),
            _ => {}
        }
        let text = if self.fault == Fault::TextDiffers && from_text { ",\"from_text\":true" } else { "" };
        let anchors = format!("{{\"amount_present\":{present},\"amount_in_range\":{in_range}{text}}}");
        let anchors = match self.fault {
            Fault::AnchorsList => "[true]".to_owned(),
            Fault::AnchorNumber => "{\"amount_present\":1}".to_owned(),
            Fault::NoAnchors => "{}".to_owned(),
            Fault::KeyEcho => {
                let caller = head.authorization.as_deref().unwrap_or_default();
                format!(
                    "{{\"amount_present\":{present},\"amount_in_range\":{in_range},{}:false}}",
                    json::quote(caller)
                )
            }
            _ => anchors,
        };
        let more = self.more(head, from_text);
        let body = format!("{{{correct}{score},\"anchor_results\":{anchors}{more}}}");
        self.finish(self.ok(&body))
    }

    /// What stands in a verdict beside its usual members.
    fn more(&self, head: &Head, from_text: bool) -> String {
        match self.fault {
            Fault::MetricText => ",\"named_metrics\":{\"amount\":\"1\"}".to_owned(),
            Fault::MetricInfinite => ",\"named_metrics\":{\"amount\":1e999}".to_owned(),
            Fault::MetricsDiffer => format!(",\"named_metrics\":{{\"texts\":{}}}", u8::from(from_text)),
            Fault::ExtraMembers => {
                ",\"named_metrics\":{\"amount\":1},\"note\":\"free text\",\"list\":[1]".to_owned()
            }
            Fault::KeyEcho => {
                format!(",\"caller\":{}", json::quote(head.authorization.as_deref().unwrap_or_default()))
            }
            _ => String::new(),
        }
    }

    /// Faults of a whole verdict.
    fn finish(&self, mut reply: Reply) -> Reply {
        match self.fault {
            Fault::NotUtf8 => reply.body.splice(1..1, *b"\"\xff\":1,").for_each(drop),
            Fault::Created => reply.status = 201,
            Fault::AnswersList => reply.body = [b"[", reply.body.as_slice(), b"]"].concat(),
            Fault::NoContent => {
                reply.status = 204;
                reply.body.clear();
                reply.fields.retain(|(name, _)| *name != "content-type");
            }
            Fault::TextType => {
                reply.fields.retain(|(name, _)| *name != "content-type");
                reply.fields.push(("content-type", "text/plain".to_owned()));
            }
            _ => {}
        }
        reply
    }

    fn ok(&self, body: &str) -> Reply {
        self.reply(200, body.as_bytes().to_vec())
    }

    fn error(&self, status: u16, code: &str) -> Reply {
        self.quoting(status, code, b"")
    }

    /// An error about a body, which a fault may quote.
    fn quoting(&self, status: u16, code: &str, body: &[u8]) -> Reply {
        let text = match self.fault {
            Fault::ErrorVerdict => {
                format!("{{\"error\":\"{code}\",\"is_correct\":false,\"quality_score\":0}}")
            }
            Fault::ErrorPage => "<h1>Something went wrong</h1>".to_owned(),
            Fault::ErrorEcho => {
                format!("{{\"error\":\"{code}\",\"near\":{}}}", json::quote(&String::from_utf8_lossy(body)))
            }
            _ => format!("{{\"error\":\"{code}\"}}"),
        };
        self.reply(status, text.into_bytes())
    }

    fn reply(&self, status: u16, body: Vec<u8>) -> Reply {
        let mut fields = vec![("content-type", "application/json".to_owned())];
        if self.fault != Fault::Cacheable {
            fields.push(("cache-control", "no-store".to_owned()));
        }
        Reply { status, fields, body, delay: Duration::ZERO, wire: Wire::Normal }
    }
}

fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one.iter().zip(other).all(|((a, x), (b, y))| a == b && same(&x.value, &y.value))
        }
        _ => one == other,
    }
}
