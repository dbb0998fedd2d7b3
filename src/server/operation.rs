//! One request to a published operation, from its head to its answer.

use std::sync::Arc;

use hyper::Method;
use hyper::header::{HOST, HeaderMap};
use hyper::http::request::Parts;
use tokio::time::Instant;

use super::body::{self, Incoming};
use super::connection::Peer;
use super::load::Admitted;
use super::rate::Rate;
use super::reply::{self, Answer};
use super::{Shared, head};
use crate::budget::Budget;
use crate::fault::Fault;
use crate::json::{Document, Value};
use crate::service::assess::{Assessed, BODY_CAP, Refusal, Stop};
use crate::service::audit::{self, Finding};
use crate::service::report::{self, Report};
use crate::service::signing::Signing;
use crate::service::tally::Payer;
use crate::service::x402::payload::{Payment, Unpayable};
use crate::service::x402::{Requirements, Version, address};
use crate::service::{Denied, Service};
use crate::utc::Utc;

/// What a path under an operation's base is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Endpoint {
    Criteria,
    Precheck,
    Check,
    Metrics,
    /// An operation that the criteria name and do not offer.
    NotOffered,
    /// The key set, which belongs to all operations.
    Keys,
}

/// One endpoint of one operation.
pub(super) struct Operation {
    pub(super) service: Arc<Service>,
    pub(super) endpoint: Endpoint,
    pub(super) rate: Option<Arc<Rate>>,
    pub(super) signing: Arc<Signing>,
}

/// An answer, and its code for the log.
pub(super) struct Done {
    pub(super) answer: Answer,
    pub(super) code: &'static str,
}

/// Why there is no report.
enum No {
    Refused(Refusal),
    Denied(Denied),
    /// Unpaid, for the reason that the fault names; the offer goes with it.
    Unpaid(Fault),
}

impl From<Fault> for No {
    fn from(fault: Fault) -> No {
        No::Denied(Denied::Fault(fault))
    }
}

/// What a body is assessed for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    /// A pre-check's answer.
    Assessability,
    /// Only that it can be assessed: nothing is paid yet.
    Price,
    /// The report.
    Report,
}

/// What came out of the engine.
enum Work {
    Assessable(Vec<u8>),
    Priced,
    Report(Box<Report>),
    Refused(Refusal),
    Found(Finding),
}

impl Endpoint {
    /// Its name, for counters.
    fn name(self) -> &'static str {
        match self {
            Endpoint::Criteria => "criteria",
            Endpoint::Precheck => "precheck",
            Endpoint::Check => "check",
            Endpoint::Metrics => "metrics",
            Endpoint::NotOffered => "not_offered",
            Endpoint::Keys => "keys",
        }
    }
}

impl Operation {
    /// Answers one request, and counts it.
    pub(super) async fn answer(
        &self,
        server: &Shared,
        peer: &Peer,
        head: &Parts,
        body: &mut Incoming,
        accepted: Instant,
    ) -> Done {
        let reads = matches!(self.endpoint, Endpoint::Criteria | Endpoint::Metrics | Endpoint::Keys);
        let allow = if reads { "GET, HEAD" } else { "POST" };
        let is_allowed = match head.method {
            Method::GET | Method::HEAD => reads,
            Method::POST => !reads,
            _ => false,
        };
        if !is_allowed {
            return self.failed(Fault::MethodNotAllowed, reply::method_not_allowed(allow));
        }
        match self.decide(server, peer, head, body, accepted).await {
            Ok(answer) => Done { answer, code: "answered" },
            Err(No::Refused(refusal)) => {
                self.service.state.tally.refused(self.endpoint.name(), refusal.code);
                Done { answer: self.refusal(refusal), code: refusal.code }
            }
            Err(No::Denied(Denied::TooSoon(wait))) => self.failed(Fault::TooSoon, reply::too_soon(wait)),
            Err(No::Denied(Denied::Fault(fault))) => self.failed(fault, reply::fault(fault)),
            Err(No::Unpaid(fault)) => {
                let answer = match &self.service.payment {
                    Some(payment) => reply::offer(self.offer(&payment.requirements, head, fault)),
                    None => reply::fault(fault),
                };
                self.failed(fault, answer)
            }
        }
    }

    fn failed(&self, fault: Fault, answer: Answer) -> Done {
        self.service.state.tally.failed(self.endpoint.name(), fault.code());
        Done { answer, code: fault.code() }
    }

    async fn decide(
        &self,
        server: &Shared,
        peer: &Peer,
        head: &Parts,
        body: &mut Incoming,
        accepted: Instant,
    ) -> Result<Answer, No> {
        let service = &self.service;
        head::lawful(head)?;
        self.rate.as_ref().map_or(Ok(()), |rate| rate.admit(peer.client))?;
        match self.endpoint {
            Endpoint::Criteria => Ok(reply::criteria(&service.criteria, &head.headers)),
            Endpoint::Metrics => {
                let mut text = String::new();
                Service::write_metrics([service], &mut text);
                Ok(reply::metrics(text))
            }
            Endpoint::Keys => Ok(reply::keys(self.signing.jwks())),
            Endpoint::NotOffered => Err(Fault::NotCovered.into()),
            Endpoint::Precheck => {
                service.admit()?;
                self.precheck(server, peer, body, accepted).await
            }
            Endpoint::Check => {
                service.admit()?;
                self.check(server, head, body, accepted).await
            }
        }
    }

    /// Assessability only. A refusal is free; what can be assessed takes one call of the caller's allowance.
    async fn precheck(
        &self,
        server: &Shared,
        peer: &Peer,
        body: &mut Incoming,
        accepted: Instant,
    ) -> Result<Answer, No> {
        let (document, admitted) = read(server, body, accepted).await?;
        let wallet = document.root().get(b"caller").and_then(Value::as_text);
        let wallet = wallet.and_then(|wallet| String::from_utf8(wallet.decode().into_owned()).ok());
        // Only what is a wallet is kept, since this name is the one thing of a body that the store sees.
        let caller = match wallet.filter(|wallet| address(wallet).is_some()) {
            Some(wallet) => format!("wallet:{wallet}"),
            None => format!("address:{}", peer.client),
        };
        let Work::Assessable(answer) =
            self.work(server, document, admitted, Wanted::Assessability, accepted).await?
        else {
            return Err(Fault::CheckFailed.into());
        };
        self.service.take_free_call(&caller, Utc::now()).await.map_err(No::Denied)?;
        self.service.state.tally.prechecked();
        Ok(reply::signed(hyper::StatusCode::OK, self.signing.envelope(&answer)))
    }

    /// Refusals first, which are free; then the payment; then the report.
    async fn check(
        &self,
        server: &Shared,
        head: &Parts,
        body: &mut Incoming,
        accepted: Instant,
    ) -> Result<Answer, No> {
        let service = &self.service;
        let (document, admitted) = read(server, body, accepted).await?;
        let header = match &service.payment {
            Some(_) => payment_header(&head.headers),
            None => Ok(None),
        };
        let is_due = service.payment.is_some() && matches!(header, Ok(None));
        let wanted = if is_due { Wanted::Price } else { Wanted::Report };
        let report = match self.work(server, document, admitted, wanted, accepted).await? {
            Work::Report(report) => *report,
            _ => return Err(No::Unpaid(Fault::PaymentRequired)),
        };
        let (Some(payment), Some((version, header))) = (&service.payment, header?) else {
            let answer = self.signing.envelope(&report.bytes);
            service.state.tally.checked(&report, Payer::Nobody);
            return Ok(reply::signed(hyper::StatusCode::OK, answer));
        };
        let sent = read_payment(&payment.requirements, version, header)?;
        let sale = Arc::clone(service).sell(payment.clone(), Arc::clone(&self.signing), sent, report);
        sale.await.map(reply::paid).map_err(|fault| match fault {
            Fault::PaymentInvalid | Fault::SettlementRefused => No::Unpaid(fault),
            other => other.into(),
        })
    }

    /// Runs the engine within its budget, and what follows from it.
    async fn work(
        &self,
        server: &Shared,
        document: Document,
        admitted: Admitted,
        wanted: Wanted,
        accepted: Instant,
    ) -> Result<Work, No> {
        let limits = &server.site.load().limits;
        let bytes = document.source().len();
        let (steps, deadline) = (limits.check_steps, accepted + limits.check_timeout);
        let (service, document) = (Arc::clone(&self.service), Arc::new(document));
        let work = move |budget: &mut Budget<'_>| {
            let _held_until_the_work_ends = &admitted;
            work(&service, &document, wanted, budget)
        };
        match server.checks.run(work, bytes, steps, deadline).await? {
            Work::Refused(refusal) => Err(No::Refused(refusal)),
            Work::Found(finding) => {
                let store = self.service.payment.as_ref().map(|payment| &*payment.store);
                self.service.state.wires.trip(finding.name(), store).await;
                Err(Fault::OperationStopped.into())
            }
            done => Ok(done),
        }
    }

    /// A pre-check's refusal is signed like all that it says.
    fn refusal(&self, refusal: Refusal) -> Answer {
        if self.endpoint != Endpoint::Precheck {
            return reply::refusal(refusal);
        }
        let report = report::precheck(self.service.op, Err(refusal), Utc::now());
        reply::signed(reply::refusal_status(refusal), self.signing.envelope(&report))
    }

    fn offer(
        &self,
        requirements: &Requirements,
        head: &Parts,
        fault: Fault,
    ) -> crate::service::x402::offer::Offer {
        // The head was found lawful: one host, of plain characters.
        let authority = head.uri.authority().map(|authority| authority.as_str().to_owned());
        let host = || head.headers.get(HOST).and_then(|host| host.to_str().ok()).map(ToOwned::to_owned);
        let host = authority.or_else(host).unwrap_or_default();
        let url = format!("https://{host}{}", head.uri.path());
        let description = match self.service.op {
            crate::service::Op::ArgumentCheck => "One check of a tool call's arguments, as a signed report",
            crate::service::Op::SplitProfile => "One split profile of a tool catalogue, as a signed report",
        };
        requirements.offer(&url, description, fault.code())
    }
}

/// The body as JSON.
async fn read(server: &Shared, body: &mut Incoming, accepted: Instant) -> Result<(Document, Admitted), No> {
    let limits = server.site.load().limits.clone();
    let most = BODY_CAP.min(limits.max_body_bytes);
    let mut admitted = server.load.admit(body.announced())?;
    let bytes = match body::read(body, most, accepted + limits.body_timeout, &mut admitted).await {
        Err(Fault::RequestTooLarge) => return Err(No::Refused(Refusal::BODY_OVER_CAP)),
        read => read?,
    };
    let document = Document::parse(bytes).map_err(|_| No::Refused(Refusal::INVALID_BODY))?;
    Ok((document, admitted))
}

fn work(
    service: &Service,
    document: &Arc<Document>,
    wanted: Wanted,
    budget: &mut Budget<'_>,
) -> Result<Work, Fault> {
    let assessed = match service.engine.assess(document, budget) {
        Ok(assessed) => assessed,
        Err(Stop::Refused(refusal)) => return Ok(Work::Refused(refusal)),
        Err(Stop::Exhausted(_)) => return Err(Fault::CheckTimeout),
    };
    match wanted {
        Wanted::Assessability => {
            Ok(Work::Assessable(report::precheck(service.op, Ok(&assessed), Utc::now())))
        }
        Wanted::Price => Ok(Work::Priced),
        Wanted::Report => {
            if let Assessed::Argument(check, body) = &assessed {
                match audit::audit(check, body, budget) {
                    Ok(()) => {}
                    Err(audit::Stop::Found(finding)) => return Ok(Work::Found(finding)),
                    Err(audit::Stop::Exhausted(_)) => return Err(Fault::CheckTimeout),
                }
            }
            let report = report::check(&assessed, &service.statements, Utc::now());
            report.map(|report| Work::Report(Box::new(report))).map_err(|_| Fault::ReportTooLarge)
        }
    }
}

/// The one payment header, if there is one.
fn payment_header(headers: &HeaderMap) -> Result<Option<(Version, &[u8])>, Fault> {
    let sent = [Version::Two, Version::One].into_iter().flat_map(|version| {
        headers.get_all(version.payment_header()).iter().map(move |value| (version, value.as_bytes()))
    });
    let sent: Vec<_> = sent.take(2).collect();
    match sent.as_slice() {
        [] => Ok(None),
        [one] => Ok(Some(*one)),
        _ => Err(Fault::PaymentMalformed),
    }
}

fn read_payment(requirements: &Requirements, version: Version, header: &[u8]) -> Result<Payment, No> {
    requirements.read_payment(version, header).map_err(|unpayable| match unpayable {
        Unpayable::Malformed => Fault::PaymentMalformed.into(),
        Unpayable::Mismatch => No::Unpaid(Fault::PaymentMismatch),
    })
}
