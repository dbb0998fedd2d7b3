//! A stub facilitator: it believes everything, and does with a settlement what the test wants.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::{PAYER, transaction_id};

/// What the facilitator does.
#[derive(Clone)]
pub(crate) struct Mode {
    /// What `/verify` answers; `None`: 500 and no JSON.
    pub(crate) verify: Option<Value>,
    /// What `/settle` answers instead of success.
    pub(crate) settle: Option<Value>,
    /// How long `/settle` takes to answer. The money has moved before.
    pub(crate) delay: Duration,
}

impl Default for Mode {
    fn default() -> Self {
        Mode { verify: Some(json!({"isValid": true, "payer": PAYER})), settle: None, delay: Duration::ZERO }
    }
}

/// A facilitator on a port of its own.
pub(crate) struct Facilitator {
    pub(crate) url: String,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    mode: Mode,
    /// How often each transaction was settled.
    settled: BTreeMap<String, u32>,
    /// The requirements that came last.
    requirements: Value,
}

impl Facilitator {
    pub(crate) async fn start() -> Facilitator {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let state = Arc::new(Mutex::new(State::default()));
        let shared = Arc::clone(&state);
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                let state = Arc::clone(&shared);
                let service = service_fn(move |request| answer(Arc::clone(&state), request));
                let http = hyper::server::conn::http1::Builder::new();
                tokio::spawn(http.serve_connection(TokioIo::new(socket), service));
            }
        });
        Facilitator { url, state }
    }

    pub(crate) fn set(&self, mode: Mode) {
        self.state.lock().unwrap().mode = mode;
    }

    /// Every transaction that was settled, and how often it was asked for.
    pub(crate) fn settled(&self) -> BTreeMap<String, u32> {
        self.state.lock().unwrap().settled.clone()
    }

    /// The requirements that came with the last call.
    pub(crate) fn requirements(&self) -> Value {
        self.state.lock().unwrap().requirements.clone()
    }
}

async fn answer(
    state: Arc<Mutex<State>>,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let path = request.uri().path().to_owned();
    let body = request.into_body().collect().await.unwrap().to_bytes();
    let body: Value = serde_json::from_slice(&body).expect("JSON");
    let transaction = body["paymentPayload"]["payload"]["transaction"].as_str().expect("a transaction");
    let id = transaction_id(transaction);
    let mode = {
        let mut state = state.lock().unwrap();
        state.requirements = body["paymentRequirements"].clone();
        if path == "/settle" && state.mode.settle.is_none() {
            *state.settled.entry(id.clone()).or_default() += 1;
        }
        state.mode.clone()
    };
    let answer = match path.as_str() {
        "/verify" => mode.verify,
        "/settle" => {
            tokio::time::sleep(mode.delay).await;
            let network = body["paymentRequirements"]["network"].clone();
            let success = json!({"success": true, "transaction": id, "network": network, "payer": PAYER});
            Some(mode.settle.unwrap_or(success))
        }
        _ => None,
    };
    let mut response = Response::new(Full::default());
    match answer {
        Some(answer) => *response.body_mut() = answer.to_string().into(),
        None => *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR,
    }
    Ok(response)
}
