"""Calls about exported instances (reference: export.json, directory)."""

from collections.abc import Iterable
from typing import Annotated, ClassVar

import msgspec

from ganeti_tx.rpc.calls.base import FAST, NORMAL, NodeCall, Question, R

#: What an export, or a part of one, is called in its directory; none is hidden.
ExportName = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.+-]{0,249}\Z")]
#: Of an export, below the directory of exports.
ExportPath = Annotated[
    str, msgspec.Meta(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.+-]{0,249}(/[A-Za-z0-9_][A-Za-z0-9_.+-]{0,249}){0,7}\Z")
]


class ExportList(Question[list[str]], frozen=True, kw_only=True):
    """The names of the exports that lie on the node."""

    name: ClassVar[str] = "export_list"
    timeout: ClassVar[float] = FAST


class ExportInfo(Question[str], frozen=True, kw_only=True):
    """The text of an export's config.ini. May hold private parameters: no log shows it."""

    name: ClassVar[str] = "export_info"
    timeout: ClassVar[float] = FAST
    path: ExportPath


class ExportCall(NodeCall[R], frozen=True, kw_only=True):
    """A call that changes an export, which it has for itself."""

    export: ExportName

    def reserves(self) -> Iterable[str]:
        """The export."""
        return [f"export {self.export}"]


class ExportBegin(ExportCall[None], frozen=True, kw_only=True):
    """Make the directory in which an export is put together; what an earlier one has left of it goes."""

    name: ClassVar[str] = "export_begin"
    timeout: ClassVar[float] = NORMAL


class ExportDiscard(ExportCall[None], frozen=True, kw_only=True):
    """Take that back: an export that was finalized before stays; one that never was begun is no error."""

    name: ClassVar[str] = "export_discard"
    timeout: ClassVar[float] = NORMAL


class FinalizeExport(ExportCall[None], frozen=True, kw_only=True):
    """Describe what has come, and put it in the place of the former export of that name."""

    name: ClassVar[str] = "finalize_export"
    config: str


class ExportRemove(ExportCall[None], frozen=True, kw_only=True):
    """Remove an export; what is not there is no error."""

    name: ClassVar[str] = "export_remove"
    timeout: ClassVar[float] = NORMAL
