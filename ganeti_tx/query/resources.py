"""All that can be queried, put together from the places where it is kept."""

from ganeti_tx.query.collect import Queries
from ganeti_tx.query.exports import ExportRows
from ganeti_tx.query.filter_rules import FilterRows
from ganeti_tx.query.groups import GroupRows
from ganeti_tx.query.instances import InstanceRows
from ganeti_tx.query.jobs import JobRows, Jobs
from ganeti_tx.query.language.slices import Slices
from ganeti_tx.query.locks import LockRows, Locks
from ganeti_tx.query.networks import NetworkRows
from ganeti_tx.query.nodes import NodeRows
from ganeti_tx.query.view import Views
from ganeti_tx.rpc.interfaces import INodeRpc

__all__ = ["Jobs", "Locks", "make_queries"]


def make_queries(view: Views, rpc: INodeRpc, locks: Locks, jobs: Jobs, slices: Slices | None = None) -> Queries:
    """The queries over a configuration, its nodes, a lock table and a queue."""
    return Queries(
        {
            "export": ExportRows(view, rpc),
            "filter": FilterRows(view),
            "group": GroupRows(view),
            "instance": InstanceRows(view, rpc),
            "job": JobRows(jobs),
            "lock": LockRows(locks),
            "network": NetworkRows(view),
            "node": NodeRows(view, rpc),
        },
        slices or Slices(),
    )
