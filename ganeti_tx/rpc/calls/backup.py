"""Calls about exported instances."""

from typing import ClassVar

from ganeti_tx.rpc.calls.base import FAST, Question


class ExportList(Question[list[str]], frozen=True, kw_only=True):
    """The names of the exports that lie on the node."""

    name: ClassVar[str] = "export_list"
    timeout: ClassVar[float] = FAST
