"""What is said when a node joins: the operator's request, and what the master and the node send each other."""

from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

from ganeti_tx.bootstrap.problems import BootstrapError

Document = TypeVar("Document")


class JoinRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What `gnt-node add` asks; options that matter to the node's set-up only later travel in the opcode."""

    node_name: str
    secondary_ip: str | None = None
    readd: bool = False
    force_join: bool = False
    ssh_key_check: bool = True
    ssh_port: int | None = None


class JoinDocument(msgspec.Struct, frozen=True, kw_only=True):
    """What a node needs in order to be one; it travels over the remote shell's standard input only.

    `shared`: the keys that all nodes have alike, by the files' paths. `readd`: the cluster knows the node, which has keys of
    its then, unless it was installed anew.
    """

    cluster_name: str
    node_name: str
    primary_ip: str
    secondary_ip: str | None
    force_join: bool
    readd: bool
    authority: bytes
    server: bytes
    client: bytes
    shared: dict[str, bytes]
    ssconf: dict[str, str]

    def __repr__(self) -> str:
        return f"<JoinDocument of {self.node_name}>"


class LeaveDocument(msgspec.Struct, frozen=True, kw_only=True):
    """What a node is told that joined in vain. `authority`: the cluster's, so that no other cluster's node does as it says."""

    node_name: str
    authority: bytes


def reader(kind: type[Document]) -> Callable[[bytes], Document]:
    """Reads such a document. @raise BootstrapError: it is none."""

    def read(data: bytes) -> Document:
        try:
            return msgspec.json.decode(data, type=kind)
        except (msgspec.DecodeError, msgspec.ValidationError) as error:
            raise BootstrapError(f"cannot read the {kind.__name__}: {error}") from None

    return read


read_request: Callable[[bytes], JoinRequest] = reader(JoinRequest)
read_join: Callable[[bytes], JoinDocument] = reader(JoinDocument)
read_leave: Callable[[bytes], LeaveDocument] = reader(LeaveDocument)


def to_bytes(document: Any) -> bytes:
    """As it travels."""
    return msgspec.json.encode(document)
