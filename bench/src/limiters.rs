//! The limiters, each asked as its documentation says, without what a careful caller would not do.

mod aforo;
mod floor;
mod governor;
mod limitador;
mod mutex_map;
mod throttlecrab;

pub(crate) use aforo::{Aforo, AforoHits};
pub(crate) use floor::{Floor, Formatting};
pub(crate) use governor::Governor;
pub(crate) use limitador::Limitador;
pub(crate) use mutex_map::MutexMap;
pub(crate) use throttlecrab::Throttlecrab;
