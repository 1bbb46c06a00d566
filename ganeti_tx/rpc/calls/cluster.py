"""Calls about the copies of the cluster's own files: the configuration, simple configuration, and keys."""

from typing import ClassVar

import msgspec

from ganeti_tx.model.stamp import Stamp
from ganeti_tx.rpc.calls.base import URGENT, MiB, NodeCall


class UploadFile(NodeCall[None], frozen=True, kw_only=True):
    """Write one of the cluster's own files; only paths of the node's list are taken.

    What comes from a former master is refused; under one master a lower `serial` never replaces.
    """

    name: ClassVar[str] = "upload_file"
    max_request: ClassVar[int] = 256 * MiB
    path: str
    data: bytes
    serial: int | None = None
    stamp: Stamp | None = None


class WriteSsconfFiles(NodeCall[None], frozen=True, kw_only=True):
    """Write simple configuration files, by key; values without the final newline. Older ones are refused.

    `serial` is that of the configuration from which they were made: a node follows a new master only to a higher one.
    """

    name: ClassVar[str] = "write_ssconf_files"
    max_request: ClassVar[int] = 64 * MiB
    values: dict[str, str]
    serial: int | None = None
    stamp: Stamp | None = None


class WriteRapiFiles(NodeCall[None], frozen=True, kw_only=True):
    """Make the files of rapi/ these, by name, and no others. Older ones are refused.

    `serial` is that of the configuration to which they belong: a candidate that has it has these files, too.
    """

    name: ClassVar[str] = "write_rapi_files"
    max_request: ClassVar[int] = 8 * MiB
    files: dict[str, bytes]
    serial: int
    stamp: Stamp | None = None


class WriteSshFiles(NodeCall[None], frozen=True, kw_only=True):
    """Make the cluster's known hosts these, and the cluster's lines of root's authorized keys. Older ones are refused.

    @ivar authorized: keys by the name of the node whose root has them; None: root's file is left alone.
    """

    name: ClassVar[str] = "write_ssh_files"
    max_request: ClassVar[int] = 16 * MiB
    known_hosts: str
    authorized: dict[str, str] | None
    serial: int
    stamp: Stamp | None = None


class CopiesState(msgspec.Struct, frozen=True, kw_only=True):
    """How new a node's copies are: serial numbers, None where there is no copy; `ssconf` is a digest of all values."""

    config: int | None
    queue: int | None
    ssconf: str
    master: str


class ClusterCopies(NodeCall[CopiesState], frozen=True, kw_only=True):
    """How new are the copies that the node keeps, and who does its simple configuration say is the master?"""

    name: ClassVar[str] = "cluster_copies"
    timeout: ClassVar[float] = URGENT
