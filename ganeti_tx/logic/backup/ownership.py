"""Whose the exports are that a new one would replace, where the caller is kept to some instances."""

from collections.abc import Iterable

from ganeti_tx.errors import ECode, GenericError, OpPrereqError
from ganeti_tx.logic.parts import Parts
from ganeti_tx.logic.questions import ask
from ganeti_tx.model.export_file import BUILDING, read_export
from ganeti_tx.model.instance import Instance
from ganeti_tx.model.node import Node
from ganeti_tx.model.opcodes.backup import OpBackupExport
from ganeti_tx.model.scope import scopes_of
from ganeti_tx.rpc.calls.backup import ExportInfo, ExportList


async def check_own(parts: Parts, op: OpBackupExport, instance: Instance, to: Node, older: Iterable[Node]) -> None:
    """Others are not told where exports lie. @param older: the nodes with those that go when the new one is there.

    @raise OpPrereqError: one is not of this instance, and the caller may do nothing to instances that are not his.
    """
    name = instance.name
    for _scopes in scopes_of(op.reason):
        if name.endswith(BUILDING):
            raise OpPrereqError(
                f"{name}: whoever has scopes may not export an instance whose name ends with {BUILDING}, as exports of"
                f" {name.removesuffix(BUILDING)} are put together there",
                ECode.INVAL,
            )
        there = [to] if name in await ask(parts.nodes, to, ExportList()) else []
        for node in (*there, *older):
            if await _uuid(parts, name, node) != instance.uuid:
                raise OpPrereqError(
                    f"there is an export called {name} that is not known to be of this instance, and whoever has scopes may not"
                    f" replace it; an administrator may, or remove it: gnt-backup remove {name}",
                    ECode.EXISTS,
                )


async def _uuid(parts: Parts, name: str, node: Node) -> str | None:
    """Of the instance that was exported; None where that is not told."""
    try:
        return read_export((await parts.nodes.call(node, ExportInfo(path=name))).config).uuid
    except GenericError:
        return None
