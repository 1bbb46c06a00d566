"""Calls about exported instances."""

from typing import Any, ClassVar

from ganeti_tx.rpc.calls.base import FAST, NodeCall


class ExportList(NodeCall, frozen=True, kw_only=True):
    """The names of the exports that lie on the node."""

    name: ClassVar[str] = "export_list"
    result: ClassVar[Any] = list[str]
    timeout: ClassVar[float] = FAST
