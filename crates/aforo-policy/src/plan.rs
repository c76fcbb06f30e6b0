//! Plans: what a rule allows those whose identity says that they have more, or less, than others.

use crate::{Allowance, Invalid};

/// The most plans of a rule.
const MOST: usize = 64;
/// The longest name of a plan, in bytes.
const LONGEST: usize = 64;

/// What a rule allows the users of one plan, in place of what it allows everyone else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// What the plan is called, as the proofs of identity call it.
    pub name: String,
    /// What is allowed. It is counted by the rule's algorithm, and in the same counter: what a user has taken stays taken
    /// when the plan changes.
    pub allowance: Allowance,
}

/// The plans of a rule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plans(Vec<Plan>);

/// Which of a rule's allowances holds: that of a plan, or the one for everyone else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Entitled(u8);

impl Plans {
    /// These plans.
    ///
    /// # Errors
    ///
    /// If a name is empty or longer than 64 bytes, two have one name, or there are more than 64.
    pub fn new(plans: impl IntoIterator<Item = Plan>) -> Result<Plans, Invalid> {
        let plans: Vec<Plan> = plans.into_iter().collect();
        if plans.len() > MOST {
            let message = format!("a rule has {} plans, and {MOST} are the most", plans.len());
            return Err(Invalid::new(message, "let plans that are alike have one name"));
        }
        for (at, plan) in plans.iter().enumerate() {
            if plan.name.trim().is_empty() || plan.name.len() > LONGEST {
                let message = format!("`{}` is no name of a plan", plan.name.escape_debug());
                return Err(Invalid::new(message, format!("write 1 to {LONGEST} bytes, as identities name the plan")));
            }
            if plans.iter().take(at).any(|other| other.name == plan.name) {
                return Err(Invalid::new(
                    format!("the plan `{}` stands there twice", plan.name),
                    "name each plan once",
                ));
            }
        }
        Ok(Plans(plans))
    }

    /// Whether there is none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The plans, in order.
    pub fn iter(&self) -> std::slice::Iter<'_, Plan> {
        self.0.iter()
    }

    /// What someone of that plan is entitled to.
    #[inline]
    pub(crate) fn entitled(&self, plan: Option<&str>) -> Entitled {
        let at = plan.and_then(|plan| self.0.iter().position(|known| known.name == plan));
        // There are no more than fit.
        Entitled(at.and_then(|at| u8::try_from(at + 1).ok()).unwrap_or(0))
    }

    /// The plan, if it is one's.
    #[inline]
    pub(crate) fn of(&self, entitled: Entitled) -> Option<&Plan> {
        self.0.get(entitled.place().checked_sub(1)?)
    }
}

impl Entitled {
    /// What everyone else is.
    pub(crate) const AS_EVERYONE: Entitled = Entitled(0);

    /// Its place in a list of all that a rule allows: everyone's first, then the plans'.
    #[inline]
    pub(crate) fn place(self) -> usize {
        usize::from(self.0)
    }
}

impl<'a> IntoIterator for &'a Plans {
    type Item = &'a Plan;
    type IntoIter = std::slice::Iter<'a, Plan>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(name: &str) -> Plan {
        Plan { name: name.to_owned(), allowance: Allowance::Unlimited }
    }

    #[test]
    fn each_plan_has_a_name_of_its_own() {
        assert!(Plans::new([plan("pro"), plan("partner")]).is_ok());
        for (names, message) in [
            (&["pro", "pro"][..], "the plan `pro` stands there twice"),
            (&[""], "`` is no name of a plan"),
            (&[" "], "` ` is no name of a plan"),
        ] {
            assert_eq!(Plans::new(names.iter().copied().map(plan)).unwrap_err().message(), message);
        }
        assert!(Plans::new([plan(&"p".repeat(65))]).is_err());
        let many = |count: usize| Plans::new((0..count).map(|at| plan(&at.to_string())));
        assert!(many(64).is_ok() && many(65).is_err());
    }

    #[test]
    fn a_plan_that_is_not_there_is_as_none() {
        let plans = Plans::new([plan("pro"), plan("partner")]).unwrap();
        let name = |plan| plans.of(plans.entitled(plan)).map(|plan| plan.name.as_str());
        assert_eq!([name(Some("partner")), name(Some("pro"))], [Some("partner"), Some("pro")]);
        assert_eq!([name(Some("Pro")), name(Some("")), name(None)], [None; 3]);
    }
}
