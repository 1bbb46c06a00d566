"""Calls about operating system definitions."""

from typing import Any, ClassVar

import msgspec

from ganeti_tx.rpc.calls.base import FAST, Question


class OsReport(msgspec.Struct, frozen=True):
    """One OS definition that a node found, good or bad.

    @ivar hypervisors: those that it can be installed under; None where it does not say, which means all.
    """

    name: str
    path: str
    valid: bool
    diagnose: str
    variants: list[str]
    parameters: list[tuple[str, str]]
    api_versions: list[int]
    trusted: bool = True
    hypervisors: list[str] | None = None


class OsDiagnose(Question[list[OsReport]], frozen=True, kw_only=True):
    """Every OS definition of the node."""

    name: ClassVar[str] = "os_diagnose"
    timeout: ClassVar[float] = FAST


class OsValidate(Question[bool], frozen=True, kw_only=True):
    """Is the OS there, with this variant, these parameters, for this hypervisor? False only when it is not and need not be.

    @ivar hidden: the parameters whose values nobody may be told, whatever the OS says of them.
    @ivar hypervisor: what it shall be installed under; None: nothing shall be.
    @ivar on_node: its create script shall run on the node itself, which only one may that is trusted.
    @ivar scripts: the optional ones that it shall have, and the node may run.
    """

    name: ClassVar[str] = "os_validate"
    timeout: ClassVar[float] = FAST
    required: bool
    os_name: str
    checks: list[str]
    osparams: dict[str, Any]
    force_variant: bool = False
    hypervisor: str | None = None
    scripts: list[str] = []
    hidden: list[str] = []
    on_node: bool = False
