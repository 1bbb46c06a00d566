"""Calls about the keys of the cluster and its nodes. The master's node daemon makes them: no job has the authority's."""

from typing import Annotated, ClassVar

import msgspec

from ganeti_tx.model.ssh_keys import KEY
from ganeti_tx.rpc.calls.base import FAST, URGENT, NodeCall

#: Without a comment: nothing else may come into root's authorized keys.
PublicKey = Annotated[str, msgspec.Meta(pattern=rf"^{KEY.pattern}\Z")]


class KeysRapi(NodeCall[bool], frozen=True, kw_only=True):
    """Have the Remote API's certificate name the cluster and its address, unless another authority than the cluster's signed it.

    The answer: whether it does now.
    """

    name: ClassVar[str] = "keys_rapi"
    timeout: ClassVar[float] = URGENT
    cluster_name: str
    master_ip: str


class KeysTrust(NodeCall[None], frozen=True, kw_only=True):
    """Make what shall take the place of the present keys, to be trusted beside them.

    In a renewal that did not end this is what was made then.
    """

    name: ClassVar[str] = "keys_trust"
    timeout: ClassVar[float] = URGENT
    cluster_name: str
    authority: bool
    confd: bool


class KeysUse(NodeCall[None], frozen=True, kw_only=True):
    """Sign with the authority that has been made, and ask confd with the key; the former ones stay trusted."""

    name: ClassVar[str] = "keys_use"
    timeout: ClassVar[float] = URGENT
    authority: bool
    confd: bool


class KeysForget(NodeCall[None], frozen=True, kw_only=True):
    """Trust the present keys alone."""

    name: ClassVar[str] = "keys_forget"
    timeout: ClassVar[float] = URGENT
    authority: bool
    confd: bool


class IssuedKeys(msgspec.Struct, frozen=True, kw_only=True):
    """A node's new certificates with their keys, PEM, and the digests by which it will be known."""

    client: bytes
    server: bytes
    client_digest: str
    server_digest: str

    def __repr__(self) -> str:
        return f"<keys {self.client_digest}, {self.server_digest}>"


class KeysIssue(NodeCall[IssuedKeys], frozen=True, kw_only=True):
    """Make certificates for a node, signed by the cluster's authority."""

    name: ClassVar[str] = "keys_issue"
    timeout: ClassVar[float] = URGENT
    node_name: str
    addresses: list[str]


class NodeTakeKeys(NodeCall[None], frozen=True, kw_only=True):
    """Make calls, and answer them, with these certificates from now on."""

    name: ClassVar[str] = "node_take_keys"
    timeout: ClassVar[float] = URGENT
    client: bytes
    server: bytes

    def __repr__(self) -> str:
        return f"<{self.name}>"


class SshMakeKey(NodeCall[PublicKey], frozen=True, kw_only=True):
    """Make an SSH key for root, which is not used yet; one that was made before and is not used either is gone. The public key."""

    name: ClassVar[str] = "ssh_make_key"
    timeout: ClassVar[float] = FAST
    root_type: str
    root_bits: int


class SshUseKey(NodeCall[None], frozen=True, kw_only=True):
    """Have root use the key that was made, in place of the one that it has of that type."""

    name: ClassVar[str] = "ssh_use_key"
    timeout: ClassVar[float] = FAST
    root_type: str
