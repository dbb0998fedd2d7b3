//! The arguments that say which endpoint is called, and how.

use std::path::PathBuf;

use crate::address;
use crate::case::Access;
use crate::client::{Client, Trust, Version};
use crate::endpoint::Endpoint;
use crate::keys::Keys;

/// Which endpoint.
#[derive(Debug, clap::Args)]
pub(super) struct TargetArgs {
    /// The URL to register, https
    #[arg(long)]
    url: String,
    /// What the endpoint demands; there is no default
    #[arg(long)]
    pub(super) access: Access,
    /// You may send test requests to this endpoint, failures among them
    #[arg(long)]
    authorize_endpoint_test: bool,
    /// What the calls are made with
    #[arg(long, default_value = "http/1.1")]
    protocol: Protocol,
    /// Trust the authorities in this PEM file, and no others
    #[arg(long, value_name = "FILE")]
    ca_file: Option<PathBuf>,
    /// Call loopback addresses too; Millwork would not
    #[arg(long)]
    allow_loopback: bool,
    /// Take plain http on loopback, before there is TLS; the report says that it is not registrable
    #[arg(long)]
    allow_http_loopback: bool,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Protocol {
    #[value(name = "http/1.1")]
    Http1,
    #[value(name = "h2")]
    Http2,
}

/// An endpoint that may be called.
pub(super) struct Target {
    pub(super) client: Client,
    pub(super) keys: Keys,
    pub(super) version: Version,
    pub(super) own_authorities: bool,
}

impl TargetArgs {
    /// Checks everything that can be checked before a call.
    ///
    /// # Errors
    /// What registration would refuse, and what else is missing; never with the URL or a key in it.
    pub(super) async fn open(&self, variable: &dyn Fn(&str) -> Option<String>) -> Result<Target, String> {
        let keys = match self.access {
            Access::Public => Keys::none(),
            Access::Authenticated => Keys::from_variables(variable).map_err(|trouble| trouble.to_string())?,
        };
        let endpoint = Endpoint::read(&self.url, &keys, self.allow_http_loopback).map_err(|refusals| {
            let told = refusals.iter().map(|refusal| format!("\n  {}: {}", refusal.code(), refusal.text()));
            format!("the URL would not be registered, so nothing was sent{}", told.collect::<String>())
        })?;
        if !self.authorize_endpoint_test {
            return Err("this sends labelled test requests, failures among them, to the endpoint; if you may, say so \
                        with --authorize-endpoint-test"
                .to_owned());
        }
        let loopback = self.allow_loopback || !endpoint.tls;
        refuse_reserved(&endpoint, loopback).await?;
        let trust = match &self.ca_file {
            Some(file) => Trust::from_file(file),
            None => Trust::public(),
        };
        let trust = trust.map_err(|trouble| trouble.to_string())?;
        let version = match self.protocol {
            Protocol::Http1 => Version::Http1,
            Protocol::Http2 => Version::Http2,
        };
        Ok(Target {
            client: Client::new(endpoint, trust, loopback),
            keys,
            version,
            own_authorities: self.ca_file.is_some(),
        })
    }
}

/// Registration refuses a name that resolves to a reserved address. One that does not resolve is the run's finding.
async fn refuse_reserved(endpoint: &Endpoint, allow_loopback: bool) -> Result<(), String> {
    let found = tokio::net::lookup_host((endpoint.host.as_str(), endpoint.port)).await;
    let refused =
        found.is_ok_and(|mut found| found.any(|found| !address::may_call(found.ip(), allow_loopback)));
    if refused {
        return Err(
            "the host's address is private or reserved, which Millwork refuses, so nothing was sent; \
                    --allow-loopback lets the kit call loopback addresses"
                .to_owned(),
        );
    }
    Ok(())
}
