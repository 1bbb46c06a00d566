"""Calls about the master role: votes, the cluster's address, and the master daemons."""

from typing import ClassVar

from ganeti_tx.mastership.ballot import Ballot
from ganeti_tx.model.master_network import MasterNetworkParameters
from ganeti_tx.rpc.calls.base import FAST, URGENT, NodeCall


class MasterVote(NodeCall[Ballot], frozen=True, kw_only=True):
    """Who is the master, and what is the newest that the node knows? Read from its files at this moment."""

    name: ClassVar[str] = "master_vote"
    timeout: ClassVar[float] = 10.0


class MasterNodeName(NodeCall[str], frozen=True, kw_only=True):
    """The name of the master by the node's simple configuration; empty when it knows none."""

    name: ClassVar[str] = "master_node_name"
    timeout: ClassVar[float] = URGENT


class NodeActivateMasterIp(NodeCall[None], frozen=True, kw_only=True):
    """Take the cluster's address."""

    name: ClassVar[str] = "node_activate_master_ip"
    timeout: ClassVar[float] = FAST
    master_params: MasterNetworkParameters
    use_external_mip_script: bool


class NodeDeactivateMasterIp(NodeCall[None], frozen=True, kw_only=True):
    """Give up the cluster's address."""

    name: ClassVar[str] = "node_deactivate_master_ip"
    timeout: ClassVar[float] = FAST
    master_params: MasterNetworkParameters
    use_external_mip_script: bool


class NodeChangeMasterNetmask(NodeCall[None], frozen=True, kw_only=True):
    """Give the cluster's address another netmask."""

    name: ClassVar[str] = "node_change_master_netmask"
    timeout: ClassVar[float] = FAST
    old_netmask: int
    netmask: int
    master_ip: str
    master_netdev: str


class NodeStartMasterDaemons(NodeCall[None], frozen=True, kw_only=True):
    """Start the master daemons; with `no_voting` they do not ask the other nodes."""

    name: ClassVar[str] = "node_start_master_daemons"
    timeout: ClassVar[float] = FAST
    no_voting: bool


class NodeStopMaster(NodeCall[None], frozen=True, kw_only=True):
    """Stop the master daemons and end the processes of their jobs."""

    name: ClassVar[str] = "node_stop_master"
    timeout: ClassVar[float] = FAST
