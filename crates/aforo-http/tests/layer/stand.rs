//! A service behind the layer, a clock to move, and requests to send.

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use aforo_core::{Clock, ManualClock, Moment, Quota};
use aforo_http::{Peer, RateLimit, RateLimitLayer};
use aforo_memory::MemoryStore;
use aforo_policy::{Limiter, Parts, Policy, Rule};
use bytes::Bytes;
use http::{HeaderMap, Request, Response, StatusCode};
use http_body::{Body, Frame, SizeHint};
use tower_layer::Layer;
use tower_service::Service;

/// A clock that the store and the test share.
#[derive(Clone)]
pub(crate) struct SharedClock(pub(crate) Arc<ManualClock>);

impl Clock for SharedClock {
    fn now(&self) -> Moment {
        self.0.now()
    }
}

/// A body of one piece.
pub(crate) struct Text(Option<Bytes>);

impl Text {
    pub(crate) fn of(text: &'static str) -> Text {
        Text(Some(Bytes::from_static(text.as_bytes())))
    }
}

impl Body for Text {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: std::pin::Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.0.take().map(|bytes| Ok(Frame::data(bytes))))
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.0.as_ref().map_or(0, |bytes| bytes.len() as u64))
    }
}

/// A service that counts its calls and answers with the fields it was given.
#[derive(Clone)]
pub(crate) struct Behind {
    pub(crate) calls: Arc<AtomicUsize>,
    pub(crate) fields: HeaderMap,
}

impl<B> Service<Request<B>> for Behind {
    type Response = Response<Text>;
    type Error = Infallible;
    type Future = Ready<Result<Response<Text>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Request<B>) -> Self::Future {
        self.calls.fetch_add(1, Ordering::Relaxed);
        let mut response = Response::new(Text::of("passed"));
        *response.headers_mut() = self.fields.clone();
        ready(Ok(response))
    }
}

pub(crate) type Store = MemoryStore<SharedClock>;

/// Everything that a test needs.
pub(crate) struct Stand {
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) calls: Arc<AtomicUsize>,
    pub(crate) limiter: Limiter<Store>,
    pub(crate) service: RateLimit<Behind, Store>,
}

/// 2026-05-28 20:26:40 UTC.
pub(crate) const START: Moment = Moment::from_millis(1_780_000_000_000);

pub(crate) fn rule(name: &str, quota: Quota) -> Rule {
    Rule::new(name, quota).unwrap()
}

impl Stand {
    pub(crate) fn of(parts: Parts) -> Stand {
        Stand::before(parts, HeaderMap::new())
    }

    pub(crate) fn of_rules(rules: impl IntoIterator<Item = Rule>) -> Stand {
        Stand::of(Parts { rules: rules.into_iter().collect(), ..Parts::default() })
    }

    /// A stand whose service sends these fields.
    pub(crate) fn before(parts: Parts, fields: HeaderMap) -> Stand {
        let clock = Arc::new(ManualClock::at(START));
        let store = MemoryStore::with_clock(SharedClock(clock.clone()));
        let limiter = Limiter::new(Policy::of(parts).unwrap(), store);
        let calls = Arc::new(AtomicUsize::new(0));
        let service = RateLimitLayer::new(limiter.clone()).layer(Behind { calls: calls.clone(), fields });
        Stand { clock, calls, limiter, service }
    }

    pub(crate) fn advance(&self, millis: u64) {
        self.clock.advance(Duration::from_millis(millis));
    }

    pub(crate) fn calls(&self) -> usize {
        self.calls.load(Ordering::Relaxed)
    }

    pub(crate) fn get(&mut self, path: &str) -> Seen {
        self.send(request("GET", path))
    }

    pub(crate) fn send(&mut self, request: Request<()>) -> Seen {
        send(&mut self.service, request)
    }
}

/// A request from 203.0.113.7.
pub(crate) fn request(method: &str, path: &str) -> Request<()> {
    let peer: SocketAddr = "203.0.113.7:51234".parse().unwrap();
    Request::builder().method(method).uri(path).header("host", "api.example").extension(Peer(peer)).body(()).unwrap()
}

/// What a client sees.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) status: StatusCode,
    pub(crate) fields: HeaderMap,
    pub(crate) body: String,
}

impl Seen {
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        let mut all = self.fields.get_all(name).iter();
        let one = all.next().map(|value| value.to_str().unwrap());
        assert!(all.next().is_none(), "{name} stands there twice");
        one
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

/// Sends a request through a service whose response is there after a few looks.
pub(crate) fn send<S, B>(service: &mut S, request: Request<()>) -> Seen
where
    S: Service<Request<()>, Response = Response<B>, Error = Infallible>,
    B: Body<Data = Bytes, Error = Infallible>,
{
    let mut context = Context::from_waker(Waker::noop());
    assert!(matches!(service.poll_ready(&mut context), Poll::Ready(Ok(()))));
    let mut response = pin!(service.call(request));
    let response = (0..3).find_map(|_| match response.as_mut().poll(&mut context) {
        Poll::Ready(Ok(response)) => Some(response),
        Poll::Pending => None,
    });
    let response = response.expect("a response after a few looks");
    let (head, body) = response.into_parts();
    let mut body = pin!(body);
    let mut bytes = Vec::new();
    while let Poll::Ready(Some(Ok(frame))) = body.as_mut().poll_frame(&mut context) {
        bytes.extend(frame.into_data().unwrap());
    }
    Seen { status: head.status, fields: head.headers, body: String::from_utf8(bytes).unwrap() }
}
