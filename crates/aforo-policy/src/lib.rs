//! Which rules meet a request, and under which key: the policy file, and the limiter that obeys it.
//!
//! A [`File`] is read, and all its mistakes are told at once. It holds a [`Policy`], which is compiled: a request that
//! describes itself ([`Describe`]) *meets* a route and its rules, and asks one question for each of them. A [`Limiter`]
//! joins the policy to any store, and its [`Answer`] says what was decided and why.
//!
//! What is not here: counting (that is `aforo-core`), a store, and HTTP, whose paths and fields arrive in a normal form.
//!
//! From the description to the decision nothing is allocated. A key is text that a person can read, and two different
//! lists of values never share one.
#![deny(missing_docs)]
#![forbid(unsafe_code)]

mod allowance;
mod answer;
mod asking;
mod clients;
mod cookie;
mod cors;
mod denied;
mod describe;
mod digest;
mod duration;
mod exempting;
mod exemption;
mod fallback;
mod file;
mod flaw;
mod headers;
mod identity;
mod invalid;
mod limiter;
mod meeting;
mod names;
mod networks;
mod partition;
mod percent;
mod permit;
mod plan;
mod policy;
mod route;
mod rule;
mod scope;
mod subject;
mod template;
mod tree;
mod worst_case;

pub use allowance::Allowance;
pub use answer::{Answer, Outcome};
pub use asking::Asking;
pub use clients::{ClientHeader, Clients};
pub use cors::Cors;
pub use denied::{Denied, PLACEHOLDERS};
pub use describe::Describe;
pub use exemption::{Exemption, Pass};
pub use file::{
    Admin, Alone, File, Gateway, InvalidStore, Mistake, Mistakes, Process, StoreSettings, StoreUrl, Surroundings,
    Timeouts, Tls, Token, reference, schema,
};
pub use flaw::{Flaw, Flaws};
pub use headers::{Headers, Legacy, LegacyReset, Standard, Upstream};
pub use identity::{ApiKey, ApiKeys, Identify, Identity, InvalidProof, Jwt, JwtKey, OnlyLine, Proof};
pub use invalid::Invalid;
pub use limiter::Limiter;
pub use meeting::Meeting;
pub use networks::Networks;
pub use partition::{Fact, Partition};
pub use percent::Percent;
pub use permit::Permit;
pub use plan::{Plan, Plans};
pub use policy::{Parts, Paths, Policy};
pub use route::{Match, Methods, Route, UNMATCHED};
pub use rule::{Rule, WhenDown, WhenMissing};
pub use scope::Scope;
pub use template::{Template, stands_for_itself};
pub use worst_case::WorstCase;

/// The policy that the program's demo runs under: a policy file to look at.
pub const DEMO: &str = include_str!("../policies/demo.yaml");
