//! The published operations as they are served now, by path.

use std::collections::HashMap;
use std::sync::Arc;

use super::operation::{Endpoint, Operation};
use super::rate::Rate;
use super::site::DockTrouble;
use crate::config::{Config, ENDPOINTS, JWKS_PATH, ServiceConfig};
use crate::service::assess::Engine;
use crate::service::criteria::{Criteria, Statements};
use crate::service::signing::Signing;
use crate::service::store::Store;
use crate::service::{Op, Payment, Service, State};

/// What operations keep over reloads.
pub(super) struct Backing {
    /// Open if an operation was paid when the server started.
    pub(super) store: Option<Arc<dyn Store>>,
    states: [Arc<State>; Op::ALL.len()],
}

/// The operations of a site.
#[derive(Default)]
pub(super) struct Services {
    by_path: HashMap<Box<str>, Operation>,
    all: Vec<Arc<Service>>,
}

impl Backing {
    pub(super) fn new(store: Option<Arc<dyn Store>>) -> Backing {
        Backing { store, states: Op::ALL.map(|op| Arc::new(State::new(op))) }
    }

    /// Waits for the sales under way.
    pub(super) async fn drain(&self) {
        for state in &self.states {
            state.drain().await;
        }
    }

    fn state(&self, op: Op) -> Arc<State> {
        let [argument, profile] = &self.states;
        Arc::clone(match op {
            Op::ArgumentCheck => argument,
            Op::SplitProfile => profile,
        })
    }
}

impl Services {
    /// Makes the operations that `config` names. Reads the signing keys.
    pub(super) fn build(
        config: &Config,
        backing: &Backing,
        before: Option<&Services>,
    ) -> Result<Services, DockTrouble> {
        let Some(signing) = &config.signing else { return Ok(Services::default()) };
        let signing = Signing::load(&signing.key, &signing.retired);
        let signing = signing.map_err(|error| DockTrouble::of_service("[signing]", error.to_string()))?;
        let signing = Arc::new(signing);
        let mut services = Services::default();
        for wanted in &config.services {
            let service = Arc::new(make(config, wanted, backing)?);
            let old = before.and_then(|services| services.at(&format!("{}/check", wanted.base)));
            let rate = match (old, wanted.rate_limit) {
                (Some(old), Some(limit)) if old.rate.as_ref().is_some_and(|rate| rate.is_of(limit)) => {
                    old.rate.clone()
                }
                (_, limit) => limit.map(|limit| Arc::new(Rate::new(limit))),
            };
            let operation = |endpoint| Operation {
                service: Arc::clone(&service),
                endpoint,
                rate: rate.clone(),
                signing: Arc::clone(&signing),
            };
            for name in ENDPOINTS {
                if let Some(endpoint) = endpoint(wanted.op, name) {
                    let path = format!("{}/{name}", wanted.base).into_boxed_str();
                    services.by_path.insert(path, operation(endpoint));
                }
            }
            services.by_path.entry(JWKS_PATH.into()).or_insert_with(|| operation(Endpoint::Keys));
            services.all.push(service);
        }
        Ok(services)
    }

    /// The endpoint at exactly this path.
    pub(super) fn at(&self, path: &str) -> Option<&Operation> {
        self.by_path.get(path)
    }

    /// Every operation.
    pub(super) fn all(&self) -> &[Arc<Service>] {
        &self.all
    }
}

fn endpoint(op: Op, name: &str) -> Option<Endpoint> {
    match name {
        "criteria" => Some(Endpoint::Criteria),
        "precheck" => Some(Endpoint::Precheck),
        "check" => Some(Endpoint::Check),
        "metrics" => Some(Endpoint::Metrics),
        _ if op == Op::SplitProfile => Some(Endpoint::NotOffered),
        _ => None,
    }
}

fn make(config: &Config, wanted: &ServiceConfig, backing: &Backing) -> Result<Service, DockTrouble> {
    let trouble = |what: String| DockTrouble::of_service(&wanted.base, what);
    let payment = match (wanted.is_paid, &config.x402, &backing.store) {
        (false, ..) => None,
        (true, Some(requirements), Some(store)) => Some(Payment {
            requirements: Arc::new(requirements.clone()),
            store: Arc::clone(store),
            house_wallets: config.store.house_wallets.clone(),
        }),
        (true, ..) => {
            return Err(trouble("payment = \"x402\" takes a restart, which opens the store".to_owned()));
        }
    };
    Ok(Service {
        op: wanted.op,
        engine: Engine::of(wanted.op).map_err(|wrong| trouble(wrong.to_string()))?,
        criteria: Criteria::new(wanted.op, &wanted.base, wanted.is_paid),
        statements: Statements::of(wanted.op),
        payment,
        acknowledged: wanted.acknowledged.clone(),
        state: backing.state(wanted.op),
    })
}
