"""Calls about the copies of the cluster's own files: the configuration, simple configuration, and keys."""

from typing import ClassVar

import msgspec

from ganeti_tx.model.config_head import read_head
from ganeti_tx.model.node_files import CONFIG
from ganeti_tx.rpc.calls.base import URGENT, Claim, MiB, NodeCall, Question


class UploadFile(Claim[None], frozen=True, kw_only=True):
    """Write one of the cluster's own files; only paths of the node's list are taken.

    What comes from a former master is refused; under one master a lower `serial` never replaces.
    """

    name: ClassVar[str] = "upload_file"
    max_request: ClassVar[int] = 256 * MiB
    path: str
    data: bytes
    serial: int | None = None

    def claims(self) -> tuple[str | None, int]:
        """What the configuration says; the serial number must be its own."""
        head = read_head(self.data) if CONFIG.is_at(self.path) else None
        return (None, -1) if head is None or head.serial_no != self.serial else (head.master, head.serial_no)


class WriteListedFile(NodeCall[None], frozen=True, kw_only=True):
    """Write a file that is not the cluster's own, with its mode; its directory is made if it is missing."""

    name: ClassVar[str] = "write_listed_file"
    max_request: ClassVar[int] = 2 * MiB
    path: str
    data: bytes
    mode: int


class ListedFile(msgspec.Struct, frozen=True, kw_only=True):
    """What is in a file, and its mode."""

    data: bytes
    mode: int


class ReadListedFile(NodeCall[ListedFile], frozen=True, kw_only=True):
    """Read a file of this node that goes to all others, which may be root's only; `room`: bytes that are left.

    It changes nothing, but nobody shall see such files who is not the master: it is no Question.
    """

    name: ClassVar[str] = "read_listed_file"
    timeout: ClassVar[float] = URGENT
    path: str
    room: int


class WriteSsconfFiles(Claim[None], frozen=True, kw_only=True):
    """Write simple configuration files, by key; values without the final newline. Older ones are refused.

    `serial` is that of the configuration from which they were made: a node follows a new master only to a higher one.
    """

    name: ClassVar[str] = "write_ssconf_files"
    max_request: ClassVar[int] = 64 * MiB
    values: dict[str, str]
    serial: int | None = None

    def claims(self) -> tuple[str | None, int]:
        """What simple configuration says."""
        return (None, -1) if self.serial is None else (self.values.get("master_node"), self.serial)


class WriteRapiFiles(Claim[None], frozen=True, kw_only=True):
    """Make the files of rapi/ these, by name, and no others. Older ones are refused.

    `serial` is that of the configuration to which they belong: a candidate that has it has these files, too.
    """

    name: ClassVar[str] = "write_rapi_files"
    max_request: ClassVar[int] = 8 * MiB
    files: dict[str, bytes]
    serial: int

    def claims(self) -> tuple[str | None, int]:
        """The sender: the files come before the configuration that they belong to, with its serial number."""
        return (None, -1) if self.stamp is None else (self.stamp.master, self.serial)


class WriteSshFiles(NodeCall[None], frozen=True, kw_only=True):
    """Make the cluster's known hosts these, and the cluster's lines of root's authorized keys. Older ones are refused.

    @ivar authorized: keys by the name of the node whose root has them; None: root's file is left alone.
    """

    name: ClassVar[str] = "write_ssh_files"
    max_request: ClassVar[int] = 16 * MiB
    known_hosts: str
    authorized: dict[str, str] | None
    serial: int


class CopiesState(msgspec.Struct, frozen=True, kw_only=True):
    """How new a node's copies are: serial numbers, None where there is no copy; `ssconf` is a digest of all values.

    @ivar files: a digest of each file that nodes have alike, by its path; those that are not there are left out. None: an
        older node, which does not tell.
    """

    config: int | None
    queue: int | None
    ssconf: str
    master: str
    files: dict[str, str] | None = None


class ClusterCopies(Question[CopiesState], frozen=True, kw_only=True):
    """How new are the copies that the node keeps, and who does its simple configuration say is the master?"""

    name: ClassVar[str] = "cluster_copies"
    timeout: ClassVar[float] = URGENT
