//! A run: the first call, then every case in the order of the table, the slow ones beside them, and last the rules
//! that look at all answers.

mod access;
mod calls;
mod judge;
mod labelled;
mod stage;

use std::time::{Duration, Instant};

use crate::case::{self, Access, Case, Family, Labelled, Lane, Play};
use crate::client::{Client, Session, Version};
use crate::contract::Timing;
use crate::finding::Finding;
use crate::keys::Keys;

use stage::Stage;

/// What to run, and against what.
#[derive(Debug)]
pub struct Plan {
    /// Calls the endpoint.
    pub client: Client,
    /// The access mode that it is said to have.
    pub access: Access,
    /// The keys.
    pub keys: Keys,
    /// The author's labelled cases.
    pub labelled: Vec<Labelled>,
    /// What every call is made with.
    pub version: Version,
    /// The budgets.
    pub timing: Timing,
}

/// What came of a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing to find.
    Passed,
    /// Something was found.
    Failed(Vec<Occurrence>),
    /// There was no answer to judge; another case says why.
    NotJudged,
    /// Nothing to ask under this access mode or protocol, or with these keys and cases.
    NotApplicable,
}

/// A finding, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Occurrence {
    /// What was found.
    pub finding: Finding,
    /// The case whose call showed it, if that is another one.
    pub at: Option<String>,
    /// The status of the answer.
    pub status: Option<u16>,
}

/// A case and what came of it.
#[derive(Debug, Clone)]
pub struct Played {
    /// The case's id; of a family, the instance's.
    pub id: String,
    /// The case.
    pub case: &'static Case,
    /// What came of it.
    pub outcome: Outcome,
}

/// Something worth knowing that is no finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Advice {
    /// The probe got `is_correct` true.
    ProbePasses,
    /// The probe got a score other than 0.
    ProbeScores,
    /// A verdict came with a 2xx other than 200.
    StatusNot200,
    /// A candidate and its text got different metrics.
    MetricsDiffer,
    /// No labelled cases were given.
    NoLabelledCases,
}

impl Advice {
    /// Its id.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Advice::ProbePasses => "probe_answered_true",
            Advice::ProbeScores => "probe_scored",
            Advice::StatusNot200 => "status_not_200",
            Advice::MetricsDiffer => "metrics_differ",
            Advice::NoLabelledCases => "no_labelled_cases",
        }
    }

    /// What it says.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Advice::ProbePasses => {
                "The probe got `is_correct` true. It registers, but looks like a real pass to whoever reads it, and Millwork's \
                 own kit fails it: answer {\"is_correct\":false,\"quality_score\":0}."
            }
            Advice::ProbeScores => {
                "The probe got a `quality_score` other than 0. It registers, but Millwork's own kit fails it: answer \
                 {\"is_correct\":false,\"quality_score\":0}."
            }
            Advice::StatusNot200 => {
                "A verdict came with a 2xx other than 200. Millwork accepts it, but its own kit fails it: answer 200."
            }
            Advice::MetricsDiffer => {
                "A candidate and its text got different `named_metrics`. No receipt shows them, but Millwork's own kit \
                 compares them: leave out what differs from call to call."
            }
            Advice::NoLabelledCases => {
                "No labelled cases were given, so nothing was learnt about verdicts. Write at least one that passes and one \
                 that is rejected, and name the file with --cases."
            }
        }
    }
}

/// How long a call took.
#[derive(Debug, Clone)]
pub struct Timed {
    /// The case.
    pub id: String,
    /// An evaluation, rather than a probe or a refusal.
    pub evaluation: bool,
    /// From the start of the call to the last byte.
    pub took: Duration,
}

/// All that a run found.
#[derive(Debug)]
pub struct Findings {
    /// Every case, in the order of the table.
    pub played: Vec<Played>,
    /// Advice.
    pub advice: Vec<Advice>,
    /// Calls that were answered and that the kit itself did not delay.
    pub times: Vec<Timed>,
    /// What was agreed on in the first TLS handshake.
    pub session: Option<Session>,
    /// How long it all took.
    pub took: Duration,
}

/// Plays all cases. `progress` is told of each case when it is done, with how many are done and how many there are.
pub async fn run(plan: &Plan, progress: &(dyn Fn(usize, usize, &str) + Sync)) -> Findings {
    let start = Instant::now();
    let stage = Stage::new(plan);
    let jobs = jobs(plan);
    let first = calls::first(&stage).await;
    let go_on = first.values().all(|outcome| *outcome == Outcome::Passed);
    let counter = Counter { done: std::sync::atomic::AtomicUsize::new(0), all: jobs.len(), progress };
    let part = async |lane: Lane| {
        let mut outcomes = Vec::new();
        for (n, job) in jobs.iter().enumerate().filter(|(_, job)| job.case.lane() == lane) {
            let outcome = match first.get(job.case.id) {
                Some(outcome) if !go_on || matches!(job.case.play, Play::First) => outcome.clone(),
                _ if !job.applies(plan) => Outcome::NotApplicable,
                _ if !go_on || stage.is_lost() => Outcome::NotJudged,
                _ => play(&stage, job).await,
            };
            if !matches!(job.case.play, Play::Overall(_)) {
                counter.tick(&job.id);
            }
            outcomes.push((n, outcome));
        }
        outcomes
    };
    let (main, slow, stalled) = tokio::join!(part(Lane::Main), part(Lane::SlowBody), part(Lane::StalledBody));
    let mut outcomes: Vec<(usize, Outcome)> = main.into_iter().chain(slow).chain(stalled).collect();
    outcomes.sort_by_key(|(n, _)| *n);
    let seen = stage.finish();
    let played = jobs.into_iter().zip(outcomes).map(|(Job { id, case, .. }, (_, outcome))| {
        let outcome = match case.play {
            Play::Overall(rule) if outcome != Outcome::NotApplicable => seen.overall(rule, go_on),
            _ => outcome,
        };
        Played { id, case, outcome }
    });
    let played: Vec<Played> = played.collect();
    (counter.progress)(counter.all, counter.all, "");
    let mut advice = seen.advice;
    if plan.labelled.is_empty() {
        advice.push(Advice::NoLabelledCases);
    }
    Findings { played, advice, times: seen.times, session: seen.session, took: start.elapsed() }
}

struct Counter<'a> {
    done: std::sync::atomic::AtomicUsize,
    all: usize,
    progress: &'a (dyn Fn(usize, usize, &str) + Sync),
}

impl Counter<'_> {
    fn tick(&self, id: &str) {
        let done = self.done.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1;
        (self.progress)(done, self.all, id);
    }
}

/// A case, or one of a family.
struct Job {
    id: String,
    case: &'static Case,
    /// Which of the family.
    index: usize,
    /// A family without members.
    is_empty: bool,
}

impl Job {
    fn applies(&self, plan: &Plan) -> bool {
        !self.is_empty && (!self.case.authenticated_only || plan.access == Access::Authenticated)
    }
}

/// All cases, families spread out. A family without members stays as itself, so that the report can say so.
fn jobs(plan: &Plan) -> Vec<Job> {
    let mut jobs = Vec::new();
    for case in case::all() {
        let names = match case.play {
            Play::Family(family) => members(plan, family),
            _ => vec![(0, String::new())],
        };
        if names.is_empty() {
            jobs.push(Job { id: case.id.to_owned(), case, index: 0, is_empty: true });
        }
        for (index, name) in names {
            jobs.push(Job { id: case.instance(&name), case, index, is_empty: false });
        }
    }
    jobs
}

fn members(plan: &Plan, family: Family) -> Vec<(usize, String)> {
    let numbered = |count: usize| (0..count).map(|n| (n, (n + 1).to_string())).collect();
    let labelled = plan.labelled.iter().enumerate();
    match family {
        Family::Labelled => labelled.map(|(n, case)| (n, case.id.clone())).collect(),
        Family::TextMatches => {
            labelled.filter(|(_, case)| case.is_structured).map(|(n, case)| (n, case.id.clone())).collect()
        }
        Family::Overlap => numbered(plan.keys.overlap.len()),
        Family::Retired => numbered(plan.keys.retired.len()),
    }
}

async fn play(stage: &Stage<'_>, job: &Job) -> Outcome {
    match job.case.play {
        // Decided by the first call, or at the end.
        Play::First | Play::Overall(_) => Outcome::Passed,
        Play::File(text) => calls::file(stage, text).await,
        Play::Procedure(procedure) => calls::procedure(stage, &job.id, procedure).await,
        Play::Family(family) => labelled::family(stage, &job.id, family, job.index).await,
    }
}
