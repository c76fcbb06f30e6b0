//! What a policy says, for people and as JSON: the words that `check`, `explain` and the admin listener share.

use std::fmt::Write;

use aforo_core::{Algorithm, Key, Mode};
use aforo_policy::{Allowance, Exemption, File, Mistake, Mistakes, Policy, Route, Rule, WhenDown, WorstCase};
use serde_json::{Value, json};

/// The name of a rule's algorithm in the policy file.
pub(super) fn algorithm(rule: &Rule) -> &'static str {
    match rule.quota().map(|quota| quota.algorithm()) {
        Some(Algorithm::TokenBucket { .. }) => "token-bucket",
        Some(Algorithm::FixedWindow(_)) => "fixed-window",
        Some(Algorithm::SlidingWindow) => "sliding-window",
        Some(Algorithm::SlidingLog) => "sliding-log",
        None => "none",
    }
}

/// The name of a rule's mode in the policy file.
pub(super) fn mode(rule: &Rule) -> &'static str {
    match rule.mode {
        Mode::Enforce => "enforce",
        Mode::Shadow => "shadow",
    }
}

/// What becomes of a request while the store does not answer, in the words of the policy file.
pub(crate) fn when_down(rule: &Rule) -> &'static str {
    match rule.when_down {
        WhenDown::Allow => "allow",
        WhenDown::Deny => "deny",
        WhenDown::Fallback => "fallback",
    }
}

/// A key as a person reads it: the rule's scope, a bar, the subject.
pub(super) fn key(key: &Key) -> String {
    format!("{}|{}", key.rule().escape_ascii(), key.subject().escape_ascii())
}

/// What is allowed, as it is written, with a burst that differs.
pub(super) fn quota(allowance: &Allowance) -> String {
    match allowance.quota() {
        Some(quota) if quota.at_once() != quota.limit() => format!("{allowance}, burst {}", quota.at_once()),
        _ => allowance.to_string(),
    }
}

/// The rules with what they allow, for the admin listener.
pub(crate) fn rules_json(policy: &Policy) -> Vec<Value> {
    let rule = |placed: WorstCase<'_>| {
        let mut told = json!({
            "rule": placed.rule.name(),
            "route": placed.route.map(Route::name),
            "quota": quota(placed.allowance()),
            "algorithm": algorithm(placed.rule),
            "per": placed.rule.partition.to_string(),
            "mode": mode(placed.rule),
            "when_down": when_down(placed.rule),
            "worst_case": placed.to_string(),
        });
        name_plan(&mut told, &placed);
        told
    };
    policy.worst_cases().map(rule).collect()
}

/// Names the plan, where what is told is that of one.
fn name_plan(told: &mut Value, placed: &WorstCase<'_>) {
    if let Some(plan) = placed.plan {
        told["plan"] = plan.name.as_str().into();
    }
}

/// The worst cases, as `check` tells them.
pub(super) fn worst_cases_json(policy: &Policy) -> Vec<Value> {
    let rule = |placed: WorstCase<'_>| {
        let mut told = json!({
            "rule": placed.rule.name(),
            "route": placed.route.map(Route::name),
            "worst_case": placed.to_string(),
        });
        name_plan(&mut told, &placed);
        told
    };
    policy.worst_cases().map(rule).collect()
}

fn mistake_json(file: &str, mistake: &Mistake) -> Value {
    json!({
        "file": mistake.file.as_deref().unwrap_or(file),
        "line": mistake.line,
        "column": mistake.column,
        "message": mistake.message,
        "help": mistake.help,
    })
}

/// The mistakes of a file.
pub(crate) fn mistakes_json(mistakes: &Mistakes) -> Value {
    mistakes.iter().map(|mistake| mistake_json(mistakes.file(), mistake)).collect()
}

/// The warnings about a file.
pub(super) fn warnings_json(name: &str, warnings: &[Mistake]) -> Value {
    warnings.iter().map(|warning| mistake_json(name, warning)).collect()
}

/// A good policy in words.
pub(super) fn text(name: &str, file: &File) -> String {
    let policy = &file.policy;
    let rows: Vec<[String; 5]> = policy
        .worst_cases()
        .map(|placed| {
            let rule = placed.rule;
            let mode = if rule.mode == Mode::Shadow { " (shadow)" } else { "" };
            let plan = placed.plan.map(|plan| format!(", plan {}", plan.name)).unwrap_or_default();
            [
                format!("{}{plan}{mode}", rule.name()),
                placed.route.map_or("everywhere", Route::name).to_owned(),
                quota(placed.allowance()),
                match placed.allowance() {
                    Allowance::Unlimited => "not counted".to_owned(),
                    Allowance::Quota(_) => format!("{} per {}", algorithm(rule), rule.partition),
                },
                placed.to_string(),
            ]
        })
        .collect();
    let mut text = table(["rule", "on", "quota", "counted", "worst case"], &rows);
    for exemption in policy.exemptions() {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "exempt: {}", exempt(exemption));
    }
    for warning in &file.warnings {
        let file = warning.file.as_deref().unwrap_or(name);
        let _ = writeln!(text, "\nwarning: {file}:{}:{}: {warning}", warning.line, warning.column);
    }
    let _ = match file.warnings.len() {
        0 => writeln!(text, "\n{name}: good"),
        1 => writeln!(text, "\n{name}: good, with 1 warning"),
        many => writeln!(text, "\n{name}: good, with {many} warnings"),
    };
    text
}

/// An exemption with its conditions.
fn exempt(exemption: &Exemption) -> String {
    let path = exemption.path.as_ref().map(ToString::to_string);
    let pass = exemption.pass.as_ref().map(|pass| format!("a token in {}", pass.header()));
    let networks = exemption.networks.as_ref().map(ToString::to_string);
    let conditions: Vec<String> = [path, pass, networks].into_iter().flatten().collect();
    match conditions.join(", and ") {
        said if said == exemption.name => said,
        said => format!("{} ({said})", exemption.name),
    }
}

/// Columns as wide as their widest cell.
fn table<const N: usize>(heads: [&str; N], rows: &[[String; N]]) -> String {
    let widths: Vec<usize> = (0..N)
        .map(|at| rows.iter().map(|row| row[at].chars().count()).chain([heads[at].len()]).max().unwrap_or_default())
        .collect();
    let line = |cells: Vec<&str>| {
        let padded = cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    };
    let mut text = line(heads.to_vec());
    for row in rows {
        text.push_str(&line(row.iter().map(String::as_str).collect()));
    }
    text
}
