//! Role: whether the server is the one that the address takes it for.

use crate::address::{Address, Topology};
use crate::doctor::Finding;
use crate::doctor::fields::Fields;

/// Whether the server can hold counters at all. What is found is added.
pub(super) fn suits(fields: &Fields, address: &Address, findings: &mut Vec<Finding>) -> bool {
    let unfit = unfit(fields, address);
    let suits = unfit.is_none();
    findings.push(unfit.unwrap_or_else(|| Finding::ok("role", "it is a primary, and takes writes")));
    suits
}

fn unfit(fields: &Fields, address: &Address) -> Option<Finding> {
    if fields.get("redis_mode") == Some("sentinel") {
        let sentinel =
            Address { topology: Topology::Sentinel { service: "SERVICE".into(), login: None }, ..address.clone() };
        return Some(Finding::fault("role", "it is a Sentinel, and holds no keys", format!("write {sentinel}")));
    }
    if fields.is_on("loading") {
        let done = fields.get("loading_loaded_perc").unwrap_or("some");
        let message = format!("it is still loading its data ({done}%), and answers nobody");
        return Some(Finding::fault("role", message, "wait until it has done so"));
    }
    let in_a_cluster = fields.is_on("cluster_enabled");
    if in_a_cluster && !matches!(address.topology, Topology::Cluster) {
        let cluster = Address { topology: Topology::Cluster, database: 0, ..address.clone() };
        return Some(Finding::fault("role", "it is a node of a Cluster", format!("write {cluster}")));
    }
    if fields.get("role") == Some("slave") {
        let primary = match (fields.get("master_host"), fields.get("master_port")) {
            (Some(host), Some(port)) => format!("{host}:{port}"),
            _ => "its primary".to_owned(),
        };
        return Some(Finding::fault(
            "role",
            format!("it is a replica of {primary}, and takes no writes"),
            format!(
                "name {primary} instead; where Sentinels watch over it, redis-sentinel:// finds the primary by itself"
            ),
        ));
    }
    None
}
