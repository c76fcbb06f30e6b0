//! Words: a report as a person reads it.

use std::fmt::Write;
use std::io::IsTerminal;

use aforo_redis::doctor::{Finding, Listed, Report, Severity};

/// The report; in colours where a terminal shows them.
pub(super) fn of(report: &Report) -> String {
    let coloured = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    written(report, coloured)
}

fn written(report: &Report, coloured: bool) -> String {
    let mut text = String::new();
    if !report.store.is_empty() {
        let _ = writeln!(text, "{}", report.store);
    }
    let mut places: Vec<Option<&str>> = Vec::new();
    for finding in &report.findings {
        if !places.contains(&finding.server.as_deref()) {
            places.push(finding.server.as_deref());
        }
    }
    for place in places {
        text.push('\n');
        if let Some(server) = place {
            let _ = writeln!(text, "{server}");
        }
        for finding in report.findings.iter().filter(|finding| finding.server.as_deref() == place) {
            line(&mut text, finding, coloured);
        }
    }
    list(&mut text, "without a TTL", &report.keys.without_ttl);
    list(&mut text, "that aforo has not written", &report.keys.odd);
    if !report.servers.is_empty() {
        let _ = writeln!(text, "\nA user who may do what the store needs, and no more:\n  {}", report.least_acl);
    }
    let _ = writeln!(text, "\n{}", verdict(report));
    text
}

fn line(text: &mut String, finding: &Finding, coloured: bool) {
    let (mark, colour) = match finding.severity {
        Severity::Ok => ("✓ ok     ", "\x1b[32m"),
        Severity::Warning => ("! warning", "\x1b[33m"),
        Severity::Fault => ("✗ fault  ", "\x1b[31m"),
    };
    let (colour, plain) = if coloured { (colour, "\x1b[0m") } else { ("", "") };
    let _ = writeln!(text, "  {colour}{mark}{plain}  {:<12} {}", finding.name, finding.message);
    if let Some(help) = &finding.help {
        let _ = writeln!(text, "{:25} → {help}", "");
    }
}

fn list(text: &mut String, which: &str, keys: &Listed) {
    if keys.names.is_empty() {
        return;
    }
    let _ = writeln!(text, "\nkeys {which}");
    for name in &keys.names {
        let _ = writeln!(text, "  {name}");
    }
    let more = keys.count.saturating_sub(keys.names.len().try_into().unwrap_or(u64::MAX));
    if more > 0 {
        let _ = writeln!(text, "  and {more} more");
    }
}

fn verdict(report: &Report) -> String {
    let count = |severity| report.findings.iter().filter(|finding| finding.severity == severity).count();
    let counted = |count: usize, what: &str| match count {
        0 => format!("no {what}"),
        1 => format!("1 {what}"),
        many => format!("{many} {what}s"),
    };
    let (faults, warnings) = (count(Severity::Fault), count(Severity::Warning));
    let verdict = match (faults, warnings) {
        (0, 0) => return "healthy".to_owned(),
        (0, _) => "healthy",
        _ => "not healthy",
    };
    format!("{verdict}: {}, {}", counted(faults, "fault"), counted(warnings, "warning"))
}
