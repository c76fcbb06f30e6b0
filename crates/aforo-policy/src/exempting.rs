//! Finding what exempts a request.

use crate::meeting::OTHERS;
use crate::route::{Match, Methods};
use crate::tree::Tree;
use crate::{Describe, Exemption, Template};

/// The exemptions of a policy, as the request path looks for them.
#[derive(Debug, Default)]
pub(crate) struct Exempting {
    /// Those of which nothing but the path matters: a request finds the most specific at once.
    by_path: Option<Tree>,
    /// The others, by their places, each with the paths that it is for.
    by_sender: Vec<(usize, Option<Tree>)>,
}

/// The paths of a request, in the readings of it: the first, and others that there may be.
#[derive(Clone, Copy)]
pub(crate) struct Readings<'r> {
    pub(crate) method: &'r str,
    pub(crate) host: Option<&'r str>,
    pub(crate) path: &'r str,
    pub(crate) others: [Option<(&'r str, &'r str)>; OTHERS],
}

impl Exempting {
    /// # Errors
    ///
    /// The places of two that are for the same paths, whoever asks.
    pub(crate) fn of(exemptions: &[Exemption], case_insensitive: bool) -> Result<Exempting, Vec<(usize, usize)>> {
        let mut exempting = Exempting::default();
        let mut twice = Vec::new();
        let every = |path: &Template| Match::every(Methods::Any, path.clone());
        for (at, exemption) in exemptions.iter().enumerate() {
            match &exemption.path {
                Some(path) if exemption.is_for_everyone() => {
                    let tree = exempting.by_path.get_or_insert_default();
                    twice.extend(tree.insert(at, &every(path), case_insensitive).err().map(|earlier| (earlier, at)));
                }
                path => {
                    let tree = path.as_ref().map(|path| {
                        let mut tree = Tree::default();
                        // It is alone there.
                        let _ = tree.insert(at, &every(path), case_insensitive);
                        tree
                    });
                    exempting.by_sender.push((at, tree));
                }
            }
        }
        if twice.is_empty() { Ok(exempting) } else { Err(twice) }
    }

    /// The place of what exempts the request. A path that can be read in several ways is exempt if it is in each of them.
    #[inline]
    pub(crate) fn find(
        &self,
        exemptions: &[Exemption],
        readings: &Readings<'_>,
        request: &impl Describe,
    ) -> Option<usize> {
        // Many policies have none.
        let by_path = self.by_path.as_ref().and_then(|tree| readings.all_in(tree));
        by_path.or_else(|| self.by_sender(exemptions, readings, request))
    }

    #[inline]
    fn by_sender(&self, exemptions: &[Exemption], readings: &Readings<'_>, request: &impl Describe) -> Option<usize> {
        let holds = |(at, paths): &&(usize, Option<Tree>)| {
            paths.as_ref().is_none_or(|tree| readings.all_in(tree).is_some())
                && exemptions.get(*at).is_some_and(|exemption| exemption.admits(request))
        };
        self.by_sender.iter().find(holds).map(|(at, _)| *at)
    }
}

impl Readings<'_> {
    /// What the first reading finds, if each of the others finds something too.
    fn all_in(&self, tree: &Tree) -> Option<usize> {
        let found = tree.find(self.method, self.host, self.path)?;
        let mut others = self.others.iter().flatten();
        others.all(|(method, path)| tree.find(method, self.host, path).is_some()).then_some(found)
    }
}
