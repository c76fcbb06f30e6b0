//! Decision → response fields: what a client is told about the rules that its request met.
//!
//! The `RateLimit` fields are those of draft-ietf-httpapi-ratelimit-headers in the version that the policy names;
//! `X-RateLimit-*` are the older, widespread three.

use std::fmt::Write;

use aforo_core::{Moment, Quota, Verdict};
use aforo_policy::{Headers, Legacy, LegacyReset, Standard, Upstream};
use bytes::Bytes;
use http::header::{HeaderMap, HeaderName, HeaderValue};
use sfv::{DictSerializer, Integer, KeyRef, ListSerializer, StringRef, key_ref};

use crate::seconds;

/// `RateLimit`.
pub const RATELIMIT: HeaderName = HeaderName::from_static("ratelimit");
/// `RateLimit-Policy`.
pub const RATELIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");
/// `RateLimit-Limit`, of drafts up to 6.
pub const RATELIMIT_LIMIT: HeaderName = HeaderName::from_static("ratelimit-limit");
/// `RateLimit-Remaining`, of drafts up to 6.
pub const RATELIMIT_REMAINING: HeaderName = HeaderName::from_static("ratelimit-remaining");
/// `RateLimit-Reset`, of drafts up to 6.
pub const RATELIMIT_RESET: HeaderName = HeaderName::from_static("ratelimit-reset");
/// `X-RateLimit-Limit`.
pub const X_RATELIMIT_LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
/// `X-RateLimit-Remaining`.
pub const X_RATELIMIT_REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");
/// `X-RateLimit-Reset`.
pub const X_RATELIMIT_RESET: HeaderName = HeaderName::from_static("x-ratelimit-reset");
/// `X-RateLimit-Warning`.
pub const X_RATELIMIT_WARNING: HeaderName = HeaderName::from_static("x-ratelimit-warning");

const STANDARD: [HeaderName; 5] = [RATELIMIT, RATELIMIT_POLICY, RATELIMIT_LIMIT, RATELIMIT_REMAINING, RATELIMIT_RESET];
const LEGACY: [HeaderName; 4] = [X_RATELIMIT_LIMIT, X_RATELIMIT_REMAINING, X_RATELIMIT_RESET, X_RATELIMIT_WARNING];

/// The name of every field that may be written here.
pub(crate) fn names() -> impl Iterator<Item = HeaderName> {
    STANDARD.into_iter().chain(LEGACY)
}

/// The names of the parameters, which the draft is about to change: one table, one switch.
struct Parameters {
    quota: &'static KeyRef,
    window: &'static KeyRef,
    remaining: &'static KeyRef,
    until: &'static KeyRef,
}

/// draft-ietf-httpapi-ratelimit-headers-11, sections 3 and 4.
const DRAFT_11: Parameters =
    Parameters { quota: key_ref("q"), window: key_ref("w"), remaining: key_ref("r"), until: key_ref("t") };

/// A rule that a client may see, with its verdict.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'a> {
    /// The rule's name.
    pub name: &'a str,
    /// Its quota.
    pub quota: &'a Quota,
    /// What it answered.
    pub verdict: &'a Verdict,
}

impl Shown<'_> {
    /// Whether waiting cannot help.
    fn is_final(&self) -> bool {
        self.verdict.wait.as_micros().is_none()
    }

    /// Microseconds until this rule lets the request in or, if it does, is as new.
    fn until(&self) -> Option<u64> {
        match self.verdict.wait.as_micros()? {
            0 => Some(self.verdict.reset_micros),
            wait => Some(wait),
        }
    }

    /// The window that is shown: what the quota takes to fill.
    fn window_seconds(&self) -> u64 {
        let shown = if self.is_final() { self.quota.window() } else { self.quota.time_to_full() };
        seconds::covering(u64::try_from(shown.as_micros()).unwrap_or(u64::MAX)).max(1)
    }
}

/// The settings for a response in which the upstream may have set such fields itself: they are replaced, never
/// doubled, or else kept, and then no field of ours stands beside them to contradict them.
pub(crate) fn beside_upstream(settings: &Headers, fields: &mut HeaderMap) -> Headers {
    let mut settings = *settings;
    // Hardly any upstream does: one look at the names it sent is less than a look-up for each of ours.
    let sent = |names: &[HeaderName]| fields.keys().any(|name| names.contains(name));
    let (standard, legacy) = (sent(&STANDARD), sent(&LEGACY));
    match settings.upstream {
        Upstream::Keep => {
            if standard {
                settings.standard = Standard::Off;
            }
            if legacy {
                settings.legacy = Legacy::Off;
            }
        }
        Upstream::Replace => {
            if standard && settings.standard != Standard::Off {
                STANDARD.iter().for_each(|name| drop(fields.remove(name)));
            }
            if legacy && settings.legacy != Legacy::Off {
                LEGACY.iter().for_each(|name| drop(fields.remove(name)));
            }
        }
    }
    settings
}

/// Writes the fields of an answer whose rules `shown` yields in rule order.
pub fn write<'a, I>(shown: I, decided_at: Moment, settings: &Headers, fields: &mut HeaderMap)
where
    I: Iterator<Item = Shown<'a>> + Clone,
{
    let Some(one) = most_telling(shown.clone()) else { return };
    let mut values = Values::default();
    match settings.standard {
        Standard::Draft11 => draft_11(shown, &mut values),
        Standard::Draft7 => draft_7(shown, &one, &mut values),
        Standard::Draft6 => draft_6(shown, &one, &mut values),
        Standard::Off => {}
    }
    if settings.legacy == Legacy::XRateLimit {
        legacy(&one, decided_at, settings.legacy_reset, &mut values);
    }
    values.insert_into(fields);
}

/// The rule that clients of the single-rule fields are told about: the refusing one with the longest wait, else the
/// one with the smallest share left; the first of equals.
pub(crate) fn most_telling<'a>(shown: impl Iterator<Item = Shown<'a>> + Clone) -> Option<Shown<'a>> {
    let refusing = shown.clone().filter(|rule| rule.verdict.refuses());
    let longest = refusing.reduce(|first, next| if next.verdict.wait > first.verdict.wait { next } else { first });
    longest.or_else(|| {
        let share =
            |one: &Shown<'_>, other: &Shown<'_>| u64::from(one.verdict.remaining) * u64::from(other.verdict.limit);
        shown.reduce(|first, next| if share(&next, &first) < share(&first, &next) { next } else { first })
    })
}

fn draft_11<'a>(shown: impl Iterator<Item = Shown<'a>> + Clone, values: &mut Values) {
    // A name that is no structured-field string is refused with the policy.
    let named = shown.filter_map(|rule| Some((StringRef::from_str(rule.name).ok()?, rule)));
    let mut list = ListSerializer::with_buffer(&mut values.text);
    for (name, rule) in named.clone() {
        let _ = list
            .bare_item(name)
            .parameter(DRAFT_11.quota, Integer::from(rule.verdict.limit))
            .parameter(DRAFT_11.window, integer(rule.window_seconds()));
    }
    values.end(RATELIMIT_POLICY);
    let mut list = ListSerializer::with_buffer(&mut values.text);
    for (name, rule) in named {
        let item = list.bare_item(name).parameter(DRAFT_11.remaining, Integer::from(rule.verdict.remaining));
        if let Some(micros) = rule.until() {
            let _ = item.parameter(DRAFT_11.until, integer(seconds::covering(micros)));
        }
    }
    values.end(RATELIMIT);
}

/// Draft 7, section 3: a dictionary that shows one rule; the policies are numbers without names.
fn draft_7<'a>(shown: impl Iterator<Item = Shown<'a>>, one: &Shown<'_>, values: &mut Values) {
    nameless_policy(shown, values);
    // The draft requires a reset; where waiting cannot help there is no truthful one, so the field is left out.
    let Some(micros) = one.until() else { return };
    let mut dictionary = DictSerializer::with_buffer(&mut values.text);
    let _ = dictionary.bare_item(key_ref("limit"), Integer::from(one.verdict.limit));
    let _ = dictionary.bare_item(key_ref("remaining"), Integer::from(one.verdict.remaining));
    let _ = dictionary.bare_item(key_ref("reset"), integer(seconds::covering(micros)));
    values.end(RATELIMIT);
}

/// Draft 6, section 5: three fields that show one rule.
fn draft_6<'a>(shown: impl Iterator<Item = Shown<'a>>, one: &Shown<'_>, values: &mut Values) {
    nameless_policy(shown, values);
    values.number(RATELIMIT_LIMIT, one.verdict.limit.into());
    values.number(RATELIMIT_REMAINING, one.verdict.remaining.into());
    if let Some(micros) = one.until() {
        values.number(RATELIMIT_RESET, seconds::covering(micros));
    }
}

fn nameless_policy<'a>(shown: impl Iterator<Item = Shown<'a>>, values: &mut Values) {
    let mut list = ListSerializer::with_buffer(&mut values.text);
    for rule in shown {
        let _ = list
            .bare_item(Integer::from(rule.verdict.limit))
            .parameter(DRAFT_11.window, integer(rule.window_seconds()));
    }
    values.end(RATELIMIT_POLICY);
}

fn legacy(one: &Shown<'_>, decided_at: Moment, reset: LegacyReset, values: &mut Values) {
    values.number(X_RATELIMIT_LIMIT, one.verdict.limit.into());
    values.number(X_RATELIMIT_REMAINING, one.verdict.remaining.into());
    let Some(micros) = one.until() else { return };
    let at = seconds::epoch_after(decided_at, micros);
    match reset {
        LegacyReset::Epoch => values.number(X_RATELIMIT_RESET, at),
        LegacyReset::Delta => values.number(X_RATELIMIT_RESET, seconds::covering(micros)),
        LegacyReset::Iso8601 => {
            let at = std::time::UNIX_EPOCH + std::time::Duration::from_secs(at);
            // Writing to a string cannot fail.
            let _ = write!(values.text, "{}", humantime::format_rfc3339_seconds(at));
            values.end(X_RATELIMIT_RESET);
        }
    }
}

/// The warning on an allowed response that is near a limit.
pub(crate) fn warn(settings: &Headers, fields: &mut HeaderMap) {
    if settings.legacy != Legacy::Off {
        fields.insert(X_RATELIMIT_WARNING, HeaderValue::from_static("approaching limit"));
    }
}

/// RFC 9651 integers have fifteen digits.
fn integer(value: u64) -> Integer {
    i64::try_from(value).ok().and_then(|value| Integer::try_from(value).ok()).unwrap_or(Integer::MAX)
}

/// A number as a field's value.
pub(crate) fn number(value: u64) -> HeaderValue {
    // Digits are a value.
    HeaderValue::from_str(itoa::Buffer::new().format(value)).unwrap_or(HeaderValue::from_static("0"))
}

/// The most fields that one response is given here.
const MOST: usize = 8;

/// The values of several fields, written one behind the other into one allocation that they share.
struct Values {
    text: String,
    /// Which field each stretch of the text belongs to, and where it ends.
    ends: [Option<(HeaderName, usize)>; MOST],
    count: usize,
}

impl Default for Values {
    fn default() -> Values {
        Values { text: String::with_capacity(160), ends: [const { None }; MOST], count: 0 }
    }
}

impl Values {
    /// What was written since the last end is this field's value; if nothing was, there is no such field.
    fn end(&mut self, name: HeaderName) {
        let begun = self.count.checked_sub(1).and_then(|last| self.ends.get(last)?.as_ref()).map_or(0, |(_, end)| *end);
        if self.text.len() > begun
            && let Some(slot) = self.ends.get_mut(self.count)
        {
            *slot = Some((name, self.text.len()));
            self.count += 1;
        }
    }

    fn number(&mut self, name: HeaderName, value: u64) {
        self.text.push_str(itoa::Buffer::new().format(value));
        self.end(name);
    }

    fn insert_into(self, fields: &mut HeaderMap) {
        let text = Bytes::from(self.text);
        let mut begun = 0;
        for (name, end) in self.ends.into_iter().flatten() {
            if let Ok(value) = HeaderValue::from_maybe_shared(text.slice(begun..end)) {
                fields.insert(name, value);
            }
            begun = end;
        }
    }
}
