"""Undos as units make them: from the call or the operation itself."""

from typing import Any, ParamSpec

import msgspec

from ganeti_tx.config.interfaces import Operation
from ganeti_tx.model.disk_templates import TEMPLATES
from ganeti_tx.model.enums import DiskTemplate
from ganeti_tx.model.undo import ConfigUndo, NodeUndo, without_secrets
from ganeti_tx.rpc.calls.base import NodeCall
from ganeti_tx.rpc.calls.disk import BlockdevRemove
from ganeti_tx.rpc.interfaces import Target

P = ParamSpec("P")


def on_node(
    title: str, node: Target, call: NodeCall[Any], otherwise: str | None = None, by_hand: str | None = None
) -> NodeUndo:
    """An undo that is a call; what is secret in its arguments is left out, for it will stand in a file."""
    return NodeUndo(
        title=f"{title} on node {node.name}",
        node=node.name,
        primary_ip=node.primary_ip,
        offline=node.offline,
        call=call.name,
        arguments=without_secrets(msgspec.to_builtins(call, str_keys=True)),
        elsewhere=isinstance(call, BlockdevRemove) and TEMPLATES[DiskTemplate(call.disk.dev_type)].shared,
        otherwise=otherwise,
        by_hand=by_hand,
    )


def in_config(title: str, operation: Operation[P, Any], *arguments: P.args, **named: P.kwargs) -> ConfigUndo:
    """An undo that changes the configuration."""
    given = operation.given(*arguments, **named)
    return ConfigUndo(title=title, operation=operation.name, arguments=msgspec.to_builtins(list(given)))
