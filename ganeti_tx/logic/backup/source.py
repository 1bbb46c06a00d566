"""Where an instance is imported from: finding an export, and reading what it tells."""

import re
from collections.abc import Sequence

from attrs import frozen

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.locking.interfaces import LockRequest
from ganeti_tx.locking.levels import Mode
from ganeti_tx.logic.backup.on_nodes import holders
from ganeti_tx.logic.parts import Parts
from ganeti_tx.logic.questions import ask, check_online
from ganeti_tx.logic.wanted_locks import on_instance
from ganeti_tx.model.export_file import Exported, read_export
from ganeti_tx.model.node import Node
from ganeti_tx.model.opcodes.instance_create import OpInstanceCreate
from ganeti_tx.rpc.calls.backup import ExportInfo

#: Names below the directory of exports, or that with its own path before it.
PART = r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,249}"
PATH = re.compile(rf"/?{PART}(/{PART}){{0,15}}")
FILE = re.compile(PART)
SHA256 = re.compile(r"[0-9a-f]{64}")


@frozen
class Source:
    """An export. @ivar path: as it was asked for; `directory` is where it is on its node."""

    node: Node
    path: str
    directory: str
    exported: Exported

    def lock(self, name: str) -> Sequence[LockRequest]:
        """Nobody replaces or removes it; unless it is of the name that is locked anyway."""
        held = self.path.rpartition("/")[2]
        return [on_instance(held, Mode.SHARED)] if held != name else []

    @property
    def files(self) -> dict[int, str]:
        """The file for each disk that has one."""
        return {index: disk.dump for index, disk in enumerate(self.exported.disks) if disk.dump is not None}

    @property
    def sums(self) -> dict[int, str]:
        """The checksums that are known."""
        return {index: disk.sha256 for index, disk in enumerate(self.exported.disks) if disk.sha256}

    async def read_again(self, parts: Parts) -> None:
        """@raise OpPrereqError: it is another one than it was."""
        if (await read(parts, self.node, self.path)).exported != self.exported:
            raise OpPrereqError(f"the export in {self.path} was changed meanwhile; ask again", ECode.STATE)


async def find_source(parts: Parts, op: OpInstanceCreate, name: str) -> Source:
    """The export that is asked for; without a path it is that of the new instance's name.

    @raise OpPrereqError: there is none, or it tells no instance.
    """
    path = (op.src_path or name).rstrip("/")
    if not PATH.fullmatch(path):
        raise OpPrereqError(
            f"not the path of an export: {path[:250]!r}; give a name below the directory of exports", ECode.INVAL
        )
    wanted = op.src_node_uuid or op.src_node
    if wanted is not None:
        return await read(parts, await parts.config.node(wanted), path)
    if path.startswith("/"):
        raise OpPrereqError(f"The path {path} of an export is that of one node; give it with src_node", ECode.INVAL)
    found = await holders(parts, path.partition("/")[0], await parts.config.nodes())
    if not found:
        raise OpPrereqError(f"No export found for relative path {path}", ECode.INVAL)
    return await read(parts, found[0], path)


async def read(parts: Parts, node: Node, path: str) -> Source:
    """@raise OpPrereqError: it does not tell."""
    check_online(node, f"import the instance in {path}")
    found = await ask(parts.nodes, node, ExportInfo(path=path), ECode.ENVIRON)
    source = Source(node, path, found.directory, read_export(found.config))
    for file in source.files.values():
        if not FILE.fullmatch(file):
            raise OpPrereqError(f"export {path} names a dump that cannot be one: {file[:250]!r}", ECode.ENVIRON)
    for told in source.sums.values():
        if not SHA256.fullmatch(told):
            raise OpPrereqError(f"export {path} has a checksum that cannot be one: {told[:250]!r}", ECode.ENVIRON)
    return source
