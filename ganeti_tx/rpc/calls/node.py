"""Calls about the node itself: what it is, how it is, and its place in the cluster."""

from typing import Annotated, Any, ClassVar

import msgspec

from ganeti_tx.model.nic_link import NicLink
from ganeti_tx.model.params.node import EXCLUSIVE
from ganeti_tx.rpc.calls.base import FAST, SLOW, URGENT, NodeCall, Question
from ganeti_tx.rpc.calls.check_answers import CheckAnswers


class Version(Question[int], frozen=True, kw_only=True):
    """Which protocol version does the node daemon speak?"""

    name: ClassVar[str] = "version"
    timeout: ClassVar[float] = URGENT


class TestDelay(Question[None], frozen=True, kw_only=True):
    """Wait for some seconds."""

    name: ClassVar[str] = "test_delay"
    abandonable: ClassVar[bool] = True
    duration: float

    def time_limit(self) -> float:
        """The wait itself, and five seconds."""
        return self.duration + 5


class StorageUnit(msgspec.Struct, frozen=True):
    """A pool to be measured: its storage type, its name (a directory, a volume group) and the template's parameters."""

    type: str
    name: str
    params: dict[str, Any] = {}

    def of(self, exclusive: bool) -> "StorageUnit":
        """The same; where storage is exclusive only what no disk lies on counts as free."""
        return StorageUnit(self.type, self.name, {**self.params, EXCLUSIVE: True}) if exclusive else self


class StorageSpace(msgspec.Struct, frozen=True):
    """The room in one pool, MiB; None when it cannot be told."""

    type: str
    name: str
    storage_size: int | None = None
    storage_free: int | None = None


class NodeFacts(msgspec.Struct, frozen=True):
    """What a node says of itself: the hypervisors' facts are keyed by name and hold `hv_info_keys` of Ganeti's table."""

    boot_id: str
    storage: list[StorageSpace]
    hypervisors: dict[str, dict[str, Any]]


class NodeInfo(Question[NodeFacts], frozen=True, kw_only=True):
    """Memory, CPUs and storage."""

    name: ClassVar[str] = "node_info"
    timeout: ClassVar[float] = URGENT
    storage_units: list[StorageUnit]
    hypervisors: list[str]


class NodeVerify(Question[CheckAnswers], frozen=True, kw_only=True):
    """Run checks, keyed by Ganeti's names of them ("hypervisor", "filelist", "time", "version", ...)."""

    name: ClassVar[str] = "node_verify"
    checks: dict[str, Any]
    cluster_name: str


class NodeHasIpAddress(Question[bool], frozen=True, kw_only=True):
    """Does the node own the address?"""

    name: ClassVar[str] = "node_has_ip_address"
    timeout: ClassVar[float] = FAST
    address: str


#: Of a certificate. The configuration brings it to all nodes in lines with others, so that it is one word.
Digest = Annotated[str, msgspec.Meta(pattern=r"^[0-9A-Za-z:._-]{1,128}\Z")]


class NodeCryptoTokens(Question[list[tuple[str, Digest]]], frozen=True, kw_only=True):
    """By what is the node known? A list of [kind, token]; "ssl" is the digest of its client certificate,
    "server" of the one that it shows when it is called.
    """

    name: ClassVar[str] = "node_crypto_tokens"
    timeout: ClassVar[float] = SLOW


class SshKeys(msgspec.Struct, frozen=True, kw_only=True):
    """Public keys, without comments. `fault`: why there is no key of root's though one was asked for."""

    host: list[str]
    root: str | None = None
    fault: str = ""


class NodeSshKeys(NodeCall[SshKeys], frozen=True, kw_only=True):
    """Which keys has the SSH daemon, and which has root? `root_type`: root's, which is made, with so many bits, if it is not there.

    Without it root's keys are left alone.
    """

    name: ClassVar[str] = "node_ssh_keys"
    timeout: ClassVar[float] = FAST
    root_type: str | None = None
    root_bits: int = 0


class NodeLeaveCluster(NodeCall[None], frozen=True, kw_only=True):
    """Forget the cluster: configuration, queue and keys go, then the daemon ends itself."""

    name: ClassVar[str] = "node_leave_cluster"
    timeout: ClassVar[float] = SLOW


class NodeDemoteFromMc(NodeCall[None], frozen=True, kw_only=True):
    """The node is no master candidate any more: it forgets the configuration. The master itself refuses."""

    name: ClassVar[str] = "node_demote_from_mc"
    timeout: ClassVar[float] = FAST


class BridgesExist(Question[None], frozen=True, kw_only=True):
    """Are all these bridges there, and what else a hypervisor plugs interfaces into: switches, tables, bridges with VLANs?"""

    name: ClassVar[str] = "bridges_exist"
    timeout: ClassVar[float] = URGENT
    bridges: list[str]
    hypervisor: str = ""
    links: list[NicLink] = []
