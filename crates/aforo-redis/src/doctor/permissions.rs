//! Permissions: what the store's user must be allowed, and whether it is.

use redis::Cmd;

use crate::Settings;
use crate::address::Topology;
use crate::doctor::{Finding, is_forbidden};
use crate::servers::visit::Visit;
use crate::trouble::Trouble;

/// Stands for the name of a key.
const KEY: &str = "KEY";

/// What the scripts run, each in a form that leaves nothing behind. Inside a script each needs the same permission.
const SCRIPTS: [&[&str]; 14] = [
    &["EVALSHA", "0000000000000000000000000000000000000000", "1", KEY],
    &["EVAL", "return 1", "1", KEY],
    &["TIME"],
    &["MGET", KEY],
    &["SET", KEY, "probe", "PX", "1"],
    &["DEL", KEY],
    &["PTTL", KEY],
    &["PEXPIRE", KEY, "1"],
    // XX adds nothing to a set that is not there.
    &["ZADD", KEY, "XX", "0", "probe"],
    &["ZCARD", KEY],
    &["ZCOUNT", KEY, "0", "0"],
    &["ZRANGE", KEY, "0", "0"],
    &["ZREMRANGEBYRANK", KEY, "0", "0"],
    &["ZREMRANGEBYSCORE", KEY, "0", "0"],
];

/// What else a Cluster needs.
const CLUSTER: [&[&str]; 2] = [&["CLUSTER", "SLOTS"], &["ASKING"]];

/// All that the settings need.
fn needed(settings: &Settings) -> Vec<Vec<String>> {
    let mut needed: Vec<Vec<String>> = SCRIPTS.iter().map(|words| owned(words)).collect();
    if matches!(settings.address.topology, Topology::Cluster) {
        needed.extend(CLUSTER.iter().map(|words| owned(words)));
    }
    if settings.address.database != 0 {
        needed.push(vec!["SELECT".to_owned(), settings.address.database.to_string()]);
    }
    needed
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// How the permission to run a command is written.
fn permission(words: &[String]) -> String {
    let mut words = words.iter().map(|word| word.to_lowercase());
    match (words.next(), words.next()) {
        (Some(command), Some(sub)) if command == "cluster" => format!("+{command}|{sub}"),
        (command, _) => format!("+{}", command.unwrap_or_default()),
    }
}

/// The command that makes a user who may do what the store needs, and no more.
pub(super) fn least_acl(settings: &Settings) -> String {
    let user = settings.address.login.as_ref().and_then(|login| login.user.as_deref());
    // The default user is everybody who says nothing; it should rather be switched off.
    let user = user.filter(|user| *user != "default").unwrap_or("aforo");
    let permissions: Vec<String> = needed(settings).iter().map(|words| permission(words)).collect();
    // `reset` leaves the channels open where `acl-pubsub-default` says so.
    format!(
        "ACL SETUSER {user} reset on >PASSWORD resetchannels ~{}:* {}",
        literally(&settings.prefix),
        permissions.join(" ")
    )
}

/// A prefix as a pattern that matches itself.
pub(super) fn literally(prefix: &str) -> String {
    let mut pattern = String::with_capacity(prefix.len());
    for letter in prefix.chars() {
        if matches!(letter, '*' | '?' | '[' | ']' | '^' | '\\') {
            pattern.push('\\');
        }
        pattern.push(letter);
    }
    pattern
}

/// Tries every command that the store needs, on a key of its own. Whether the user may run all of them.
pub(super) async fn suffice(
    visit: &mut Visit,
    settings: &Settings,
    subject: &[u8],
    findings: &mut Vec<Finding>,
) -> Result<bool, Trouble> {
    let needed = needed(settings);
    let key = [settings.prefix.as_bytes(), b":{", subject, b"}:permissions"].concat();
    let mut commands = redis::pipe();
    for words in &needed {
        let mut command = Cmd::new();
        for word in words {
            if word == KEY {
                command.arg(&key)
            } else {
                command.arg(word)
            };
        }
        commands.add_command(command);
    }
    let answers = visit.ask_all(&commands).await?;
    let (mut missing, mut no_keys) = (Vec::new(), false);
    for (words, answer) in needed.iter().zip(answers) {
        let Err(trouble) = answer else { continue };
        if is_forbidden(&trouble) {
            match concerns_a_key(&trouble) {
                true => no_keys = true,
                false => missing.push(permission(words)),
            }
        }
    }
    let keys = format!("~{}:*", literally(&settings.prefix));
    if missing.is_empty() && !no_keys {
        findings.push(Finding::ok("permissions", "the user may do all that the store needs"));
        return Ok(true);
    }
    let what = match (missing.as_slice(), no_keys) {
        ([], _) => format!("the user may not touch keys under {keys}"),
        (missing, false) => format!("the user may not run {}", missing.join(" ").replace('+', "")),
        (missing, true) => {
            format!("the user may not run {}, nor touch keys under {keys}", missing.join(" ").replace('+', ""))
        }
    };
    let user = settings.address.login.as_ref().and_then(|login| login.user.as_deref()).unwrap_or("default");
    missing.extend(no_keys.then_some(keys));
    let help = format!("ACL SETUSER {user} {}", missing.join(" "));
    findings.push(Finding::fault("permissions", what, help));
    Ok(false)
}

/// Whether it is the key that is forbidden, and not the command. Servers word that in their own ways.
fn concerns_a_key(trouble: &Trouble) -> bool {
    let text = trouble.to_string();
    text.contains(" key") && !text.contains("command")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script;
    use std::collections::BTreeSet;

    #[test]
    fn the_line_allows_exactly_what_the_scripts_run() {
        let mut run: BTreeSet<String> = ["EVAL", "EVALSHA"].map(str::to_owned).into();
        let text = [0, 15].map(|bits| script::compose(bits).text.to_string()).concat();
        for call in text.split("call(").skip(1) {
            let name =
                call.trim_start().strip_prefix('\'').and_then(|name| name.split_once('\'')).map(|(name, _)| name);
            run.insert(name.unwrap_or_else(|| panic!("a call without a plain name: call({}", &call[..20])).to_owned());
        }
        let allowed: BTreeSet<String> = SCRIPTS.iter().map(|words| words[0].to_owned()).collect();
        assert_eq!(allowed, run);
    }

    #[test]
    fn the_line_names_the_user_and_the_prefix() {
        let line = |url: &str, prefix: &str| least_acl(&Settings::new(url.parse().unwrap()).prefix(prefix).unwrap());
        let start = "ACL SETUSER aforo reset on >PASSWORD resetchannels ~aforo:* +evalsha +eval +time +mget";
        assert!(line("redis://h", "aforo").starts_with(start), "{}", line("redis://h", "aforo"));
        assert!(
            line("redis://limits:x@h", "a*b")
                .starts_with("ACL SETUSER limits reset on >PASSWORD resetchannels ~a\\*b:* ")
        );
        assert!(line("redis://default:x@h/3", "aforo").ends_with(" +select"));
        assert!(line("redis-cluster://h", "aforo").ends_with(" +cluster|slots +asking"));
        assert!(!line("redis://:secret@h", "aforo").contains("secret"));
    }
}
