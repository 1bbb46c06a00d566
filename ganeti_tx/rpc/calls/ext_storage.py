"""Calls about external storage."""

from typing import ClassVar

import msgspec

from ganeti_tx.rpc.calls.base import FAST, Question


class ProviderReport(msgspec.Struct, frozen=True):
    """One provider that a node found, good or bad.

    @ivar parameters: its own, each with what it means.
    @ivar identity: those of them that together name storage which is there already, if it has such; older nodes do not tell.
    """

    name: str
    path: str
    valid: bool
    diagnose: str
    parameters: list[tuple[str, str]]
    identity: list[str] = []


class ExtstorageDiagnose(Question[list[ProviderReport]], frozen=True, kw_only=True):
    """Every provider of the node, in the order of the search path: the first of a name counts."""

    name: ClassVar[str] = "extstorage_diagnose"
    timeout: ClassVar[float] = FAST
