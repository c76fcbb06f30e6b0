//! A refusal in words.

use std::time::Duration;

use aforo_core::Quota;

use crate::fields::Shown;
use crate::seconds;

/// "Rate limit exceeded: rule 'login' allows 5 requests per minute. Retry after 42 seconds."
pub(crate) fn detail(rule: &Shown<'_>) -> String {
    let mut words = Words(String::with_capacity(144));
    let (quota, wait) = (rule.quota, rule.verdict.wait.as_micros());
    words.say("Rate limit exceeded: ");
    match wait {
        _ if quota.limit() == 0 => words.say("rule '").say(rule.name).say("' allows no requests."),
        None => words
            .say("this request costs more than the ")
            .number(quota.at_once().into())
            .say(" that rule '")
            .say(rule.name)
            .say("' allows at once."),
        Some(micros) => words
            .say("rule '")
            .say(rule.name)
            .say("' allows ")
            .rate(quota)
            .say(". Retry after ")
            .counted(seconds::covering(micros), "second")
            .say("."),
    };
    words.0
}

/// "minute", "15 minutes".
pub(crate) fn window(window: Duration) -> String {
    let mut words = Words(String::new());
    words.window(window);
    words.0
}

/// The units of time, in microseconds, longest first.
const UNITS: [(u64, &str); 7] = [
    (604_800_000_000, "week"),
    (86_400_000_000, "day"),
    (3_600_000_000, "hour"),
    (60_000_000, "minute"),
    (1_000_000, "second"),
    (1_000, "millisecond"),
    (1, "microsecond"),
];

/// Words in a row. A refusal is written for every refused request, so no part of it is formatted apart.
struct Words(String);

impl Words {
    fn say(&mut self, text: &str) -> &mut Words {
        self.0.push_str(text);
        self
    }

    fn number(&mut self, number: u64) -> &mut Words {
        self.say(itoa::Buffer::new().format(number))
    }

    fn counted(&mut self, many: u64, what: &str) -> &mut Words {
        self.number(many).say(" ").say(what).say(if many == 1 { "" } else { "s" })
    }

    /// "5 requests per second, at most 20 at once".
    fn rate(&mut self, quota: &Quota) -> &mut Words {
        self.counted(quota.limit().into(), "request").say(" per ").window(quota.window());
        match quota.at_once() {
            burst if burst == quota.limit() => self,
            burst => self.say(", at most ").number(burst.into()).say(" at once"),
        }
    }

    /// In the largest unit of which it is a whole number.
    fn window(&mut self, window: Duration) -> &mut Words {
        let micros = u64::try_from(window.as_micros()).unwrap_or(u64::MAX);
        let (size, name) =
            UNITS.into_iter().find(|(size, _)| micros.is_multiple_of(*size)).unwrap_or((1, "microsecond"));
        match micros / size {
            1 => self.say(name),
            many => self.counted(many, name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_said_in_their_largest_whole_unit() {
        for (millis, words) in [
            (100, "100 milliseconds"),
            (1_000, "second"),
            (1_500, "1500 milliseconds"),
            (60_000, "minute"),
            (900_000, "15 minutes"),
            (3_600_000, "hour"),
            (86_400_000, "day"),
            (604_800_000, "week"),
        ] {
            assert_eq!(window(Duration::from_millis(millis)), words);
        }
    }
}
