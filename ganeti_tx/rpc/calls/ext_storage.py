"""Calls about external storage."""

from typing import ClassVar

import msgspec

from ganeti_tx.rpc.calls.base import FAST, Question


class ProviderReport(msgspec.Struct, frozen=True):
    """One provider that a node found, good or bad; its own parameters, each with what it means."""

    name: str
    path: str
    valid: bool
    diagnose: str
    parameters: list[tuple[str, str]]


class ExtstorageDiagnose(Question[list[ProviderReport]], frozen=True, kw_only=True):
    """Every provider of the node, in the order of the search path: the first of a name counts."""

    name: ClassVar[str] = "extstorage_diagnose"
    timeout: ClassVar[float] = FAST
