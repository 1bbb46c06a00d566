"""Calls about the master role: votes, the cluster's address, and the master daemons."""

from collections.abc import Iterable
from typing import ClassVar

from ganeti_tx.mastership.ballot import Ballot
from ganeti_tx.model.master_network import MasterNetworkParameters
from ganeti_tx.rpc.calls.base import FAST, URGENT, NodeCall, Question, R, Sender


class MasterVote(Question[Ballot], frozen=True, kw_only=True):
    """Who is the master, and what is the newest that the node knows? Read from its files at this moment."""

    name: ClassVar[str] = "master_vote"
    timeout: ClassVar[float] = 10.0


class MasterNodeName(Question[str], frozen=True, kw_only=True):
    """The name of the master by the node's simple configuration; empty when it knows none."""

    name: ClassVar[str] = "master_node_name"
    timeout: ClassVar[float] = URGENT


class AddressCall(NodeCall[R], frozen=True, kw_only=True):
    """A call that changes the cluster's address on its node, one at a time."""

    def reserves(self) -> Iterable[str]:
        """The address."""
        return ["the cluster's address"]


class NodeActivateMasterIp(AddressCall[None], frozen=True, kw_only=True):
    """Take the cluster's address."""

    name: ClassVar[str] = "node_activate_master_ip"
    timeout: ClassVar[float] = FAST
    master_params: MasterNetworkParameters
    use_external_mip_script: bool


class NodeDeactivateMasterIp(AddressCall[None], frozen=True, kw_only=True):
    """Give up the cluster's address."""

    name: ClassVar[str] = "node_deactivate_master_ip"
    #: A master that ends when it has lost the role gives up the address, and a new one asks it to before it has the role.
    sender: ClassVar[Sender] = Sender.CANDIDATE
    timeout: ClassVar[float] = FAST
    master_params: MasterNetworkParameters
    use_external_mip_script: bool


class NodeChangeMasterNetmask(AddressCall[None], frozen=True, kw_only=True):
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
    #: A candidate whose failover was not to be starts the old master again, which takes the role by votes only.
    sender: ClassVar[Sender] = Sender.CANDIDATE
    timeout: ClassVar[float] = FAST
    no_voting: bool


class NodeStopMaster(NodeCall[None], frozen=True, kw_only=True):
    """Stop the master daemons and end the processes of their jobs."""

    name: ClassVar[str] = "node_stop_master"
    #: A candidate stops the old master before it takes the role.
    sender: ClassVar[Sender] = Sender.CANDIDATE
    timeout: ClassVar[float] = FAST
