"""Doing an undo that is data: a node call, or an operation of the configuration."""

from contextlib import suppress
from typing import Any

import msgspec
from attrs import frozen
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import deferLater

from ganeti_tx.config.interfaces import IConfig
from ganeti_tx.config.operation import Operation, operations_of
from ganeti_tx.config.unwritten import was_not_written
from ganeti_tx.errors import ConfigurationError, ECode, OpExecError, OpPrereqError
from ganeti_tx.model.node_address import NodeAddress
from ganeti_tx.model.undo import ConfigUndo, NodeUndo, Undo, with_secrets
from ganeti_tx.rpc.interfaces import INodeRpc, NodeOfflineError, NodeUnreachableError, RpcError, Target
from ganeti_tx.rpc.table import CALLS as NODE_CALLS

#: Seconds for which the configuration is offered again to a disk that does not take it, and those between two tries. The
#: job could not end meanwhile either, and what is taken back next must not be missing from what is configured.
DISK_LIMIT, PAUSE = 86400.0, 2.0
OPERATIONS = operations_of(IConfig)


@frozen
class TakingBack:
    """Does undos of one job."""

    config: IConfig
    nodes: INodeRpc
    clock: IReactorTime

    async def __call__(self, undo: Undo) -> None:
        """@raise GanetiError: it could not be done, or nobody knows whether it was."""
        if not isinstance(undo, NodeUndo):
            await self._change(undo)
            return
        try:
            await self._call(undo, NodeAddress(undo.node, undo.primary_ip, undo.offline))
        except (NodeUnreachableError, NodeOfflineError):
            if not await self.elsewhere(undo):
                raise

    async def elsewhere(self, undo: Undo) -> bool:
        """Whether another node of the same group could be had to do it, which has what it is about as well."""
        if not isinstance(undo, NodeUndo) or not undo.elsewhere:
            return False
        nodes = await self.config.nodes()
        group = next((node.group for node in nodes if node.name == undo.node), None)
        for node in nodes:
            if node.group == group and node.name != undo.node and not node.offline:
                with suppress(RpcError):
                    await self._call(undo, node)
                    return True
        return False

    async def _call(self, undo: NodeUndo, node: Target) -> None:
        kind = NODE_CALLS.get(undo.call)
        if kind is None:
            raise OpExecError(f"no such node call: {undo.call!r}")
        arguments = await self._with_secrets(undo.arguments) if kind.needs_secrets else undo.arguments
        call = _converted(arguments, kind, undo.title)
        await self.nodes.call(node, call)

    async def _with_secrets(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """The arguments with what is secret of the disks in them, as far as the configuration has these."""
        disks = (await self.config.everything()).disks
        return dict(with_secrets(arguments, disks))

    async def _change(self, undo: ConfigUndo) -> None:
        operation = OPERATIONS.get(undo.operation)
        if operation is None or len(undo.arguments) != len(operation.arguments):
            raise OpExecError(f"no such operation of the configuration: {undo.operation!r} of {undo.arguments!r:.200}")
        arguments = [
            _converted(value, argument.kind, undo.title)
            for value, argument in zip(undo.arguments, operation.arguments, strict=True)
        ]
        try:
            await self._perform(operation, tuple(arguments))
        except OpPrereqError as error:
            if ECode.NOENT not in error.args:  # what is not there was never begun, or is undone already
                raise

    async def _perform(self, operation: Operation[..., Any], arguments: tuple[Any, ...]) -> None:
        until = self.clock.seconds() + DISK_LIMIT
        while True:
            try:
                await self.config.perform(operation, arguments)
                return
            except ConfigurationError as error:
                if not was_not_written(error) or self.clock.seconds() >= until:
                    raise
            await deferLater(self.clock, PAUSE)


def _converted(value: Any, kind: Any, title: str) -> Any:
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise OpExecError(f"{title}: its arguments are not what they must be: {error}") from None
