//! A refusal in words.

use std::time::Duration;

use aforo_core::Quota;

use crate::fields::Shown;
use crate::seconds;

/// "Rate limit exceeded: rule 'login' allows 5 requests per minute. Retry after 42 seconds."
pub(crate) fn detail(rule: &Shown<'_>) -> String {
    let name = rule.name;
    match rule.verdict.wait.as_micros() {
        _ if rule.quota.limit() == 0 => format!("Rate limit exceeded: rule '{name}' allows no requests."),
        None => {
            let most = rule.quota.at_once();
            format!("Rate limit exceeded: this request costs more than the {most} that rule '{name}' allows at once.")
        }
        Some(micros) => {
            let allows = allows(rule.quota);
            let wait = counted(seconds::covering(micros), "second");
            format!("Rate limit exceeded: rule '{name}' allows {allows}. Retry after {wait}.")
        }
    }
}

/// "5 requests per second, at most 20 at once".
fn allows(quota: &Quota) -> String {
    let rate = format!("{} per {}", counted(quota.limit().into(), "request"), window(quota.window()));
    match quota.at_once() {
        burst if burst == quota.limit() => rate,
        burst => format!("{rate}, at most {burst} at once"),
    }
}

/// "minute", "15 minutes".
pub(crate) fn window(window: Duration) -> String {
    const UNITS: [(u128, &str); 7] = [
        (604_800_000_000, "week"),
        (86_400_000_000, "day"),
        (3_600_000_000, "hour"),
        (60_000_000, "minute"),
        (1_000_000, "second"),
        (1_000, "millisecond"),
        (1, "microsecond"),
    ];
    let micros = window.as_micros();
    let unit = UNITS.iter().find(|(size, _)| micros > 0 && micros.is_multiple_of(*size));
    match unit.map_or((micros, "microsecond"), |(size, name)| (micros / size, *name)) {
        (1, name) => name.to_owned(),
        (many, name) => format!("{many} {name}s"),
    }
}

fn counted(many: u64, what: &str) -> String {
    if many == 1 { format!("1 {what}") } else { format!("{many} {what}s") }
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
