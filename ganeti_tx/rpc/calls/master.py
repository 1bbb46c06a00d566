"""Calls about the master role: votes, the cluster's address, and the master daemons."""

from typing import ClassVar

import msgspec

from ganeti_tx.model.master_network import MasterNetworkParameters
from ganeti_tx.rpc.calls.base import FAST, URGENT, NodeCall
from ganeti_tx.runtime.master_term import MasterTerm


class Ballot(msgspec.Struct, frozen=True, kw_only=True):
    """What a node's own files say of its cluster: the master's name, and how new the copies are that it has.

    `config_serial` is None on a node without a copy of the configuration; `ssconf_serial` is that of the configuration
    from which its simple configuration was made, and `job_serial` the highest job id it has heard of; -1: not known.
    """

    master: str | None
    cluster_uuid: str | None = None
    config_serial: int | None = None
    config_mtime: float = 0.0
    ssconf_serial: int = -1
    job_serial: int = -1
    #: The latest term that the node has heard of.
    term: MasterTerm | None = None

    @property
    def newest(self) -> int:
        """The newest configuration that the node has seen."""
        return max(self.ssconf_serial, -1 if self.config_serial is None else self.config_serial)


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
