//! One run's calls, and what is remembered of each answer: findings and numbers, never its text.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

use super::judge::{self, Judged};
use super::{Advice, Occurrence, Outcome, Plan, Timed};
use crate::case::Rule;
use crate::client::{Body, Request, Session, Version};
use crate::finding::Finding;
use crate::verdict::Verdict;

/// After so many calls without an answer the rest is not tried.
const LOST_AFTER: usize = 3;

/// What a call is, which decides its budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// The probe, and whatever is refused or answered without a check.
    Probe,
    /// An evaluation.
    Evaluation,
    /// The kit itself holds the call up, so no budget is judged by it, and no missing answer.
    HeldUp,
    /// An evaluation with a body that the kit sends slowly: its time says nothing about the endpoint.
    Slow,
}

/// A call to make.
pub(super) struct Call<'a> {
    pub(super) id: &'a str,
    pub(super) kind: Kind,
    pub(super) method: &'static str,
    pub(super) authorization: Option<String>,
    pub(super) body: Option<Body>,
    pub(super) version: Version,
    pub(super) budget: Duration,
}

/// What a case may know of an answer.
#[derive(Debug, Clone)]
pub(super) struct Seen {
    pub(super) status: Option<u16>,
    pub(super) verdict: Option<Verdict>,
    /// Why there is no answer.
    pub(super) trouble: Option<Finding>,
    /// The fields that a case asks about.
    pub(super) challenges_bearer: bool,
    pub(super) allows_post: bool,
    pub(super) session: Option<Session>,
}

#[derive(Default)]
struct Memory {
    overall: BTreeMap<Rule, Vec<Occurrence>>,
    times: Vec<Timed>,
    session: Option<Session>,
    probe: Option<Verdict>,
    /// Answers to candidates with the marker.
    marked: Vec<(String, Verdict)>,
    unanswered: usize,
    advice: Vec<Advice>,
}

/// A run under way.
pub(super) struct Stage<'a> {
    pub(super) plan: &'a Plan,
    memory: Mutex<Memory>,
}

impl<'a> Stage<'a> {
    pub(super) fn new(plan: &'a Plan) -> Stage<'a> {
        Stage { plan, memory: Mutex::default() }
    }

    /// A call as Millwork makes it: POST, with the endpoint's key if there is one.
    pub(super) fn post<'i>(&self, id: &'i str, kind: Kind, body: Body) -> Call<'i> {
        let timing = self.plan.timing;
        let budget = if kind == Kind::Probe { timing.probe } else { timing.run };
        let authorization = self.plan.keys.endpoint.as_ref().map(crate::keys::Key::bearer);
        Call { id, kind, method: "POST", authorization, body: Some(body), version: self.plan.version, budget }
    }

    /// Makes a call, judges the answer by the rules for all answers, and tells what a case may know.
    pub(super) async fn ask(&self, call: Call<'_>) -> Seen {
        let Call { id, kind, method, authorization, body, version, budget } = call;
        let reply = self.plan.client.send(Request { method, authorization, body, budget, version }).await;
        let Judged { seen, findings } = judge::judge(kind, &reply, &self.plan.keys);
        self.remember(|memory| {
            memory.session = memory.session.or(seen.session);
            for (rule, finding) in findings {
                let occurrence = Occurrence { finding, at: Some(id.to_owned()), status: seen.status };
                memory.overall.entry(rule).or_default().push(occurrence);
            }
            let answered = reply.answer.is_ok();
            let counts = matches!(kind, Kind::Probe | Kind::Evaluation);
            if counts {
                memory.unanswered = if answered { 0 } else { memory.unanswered + 1 };
            }
            if counts && answered {
                let evaluation = kind == Kind::Evaluation;
                memory.times.push(Timed { id: id.to_owned(), evaluation, took: reply.took });
            }
        });
        if seen.verdict.is_some() && seen.status != Some(200) {
            self.advise(Advice::StatusNot200);
        }
        seen
    }

    pub(super) fn remember_probe(&self, verdict: &Verdict) {
        self.remember(|memory| memory.probe = memory.probe.take().or_else(|| Some(verdict.clone())));
    }

    pub(super) fn remember_marked(&self, id: &str, verdict: &Verdict) {
        self.remember(|memory| memory.marked.push((id.to_owned(), verdict.clone())));
    }

    /// The cases whose candidate held the marker and was not answered like the probe.
    pub(super) fn marked_unlike_the_probe(&self) -> Option<Vec<String>> {
        self.remember(|memory| {
            let probe = memory.probe.as_ref()?;
            let unlike = memory.marked.iter().filter(|(_, verdict)| verdict.anchors != probe.anchors);
            (!memory.marked.is_empty()).then(|| unlike.map(|(id, _)| id.clone()).collect())
        })
    }

    /// Notes advice, once.
    pub(super) fn advise(&self, advice: Advice) {
        self.remember(|memory| {
            if !memory.advice.contains(&advice) {
                memory.advice.push(advice);
            }
        });
    }

    /// So many calls in a row went unanswered that the rest would only take time.
    pub(super) fn is_lost(&self) -> bool {
        self.remember(|memory| memory.unanswered >= LOST_AFTER)
    }

    fn remember<T>(&self, with: impl FnOnce(&mut Memory) -> T) -> T {
        // Nothing panics while it is held.
        let mut memory = self.memory.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        with(&mut memory)
    }

    pub(super) fn finish(self) -> End {
        let memory = self.memory.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut advice = memory.advice;
        if let Some(probe) = &memory.probe {
            if probe.is_correct {
                advice.push(Advice::ProbePasses);
            } else if probe.quality_score > 0.0 {
                advice.push(Advice::ProbeScores);
            }
        }
        End { overall: memory.overall, times: memory.times, session: memory.session, advice }
    }
}

/// What a run leaves behind.
pub(super) struct End {
    overall: BTreeMap<Rule, Vec<Occurrence>>,
    pub(super) times: Vec<Timed>,
    pub(super) session: Option<Session>,
    pub(super) advice: Vec<Advice>,
}

impl End {
    /// What a rule for all answers found. If there was hardly an answer, it cannot have passed.
    pub(super) fn overall(&self, rule: Rule, any_answers: bool) -> Outcome {
        match self.overall.get(&rule) {
            Some(found) => Outcome::Failed(found.clone()),
            None if any_answers => Outcome::Passed,
            None => Outcome::NotJudged,
        }
    }
}
