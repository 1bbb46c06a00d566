"""What all opcodes have in common: the parameters that steer the job, and the one-line summary."""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, dataclass_transform

import msgspec

from ganeti_tx.model.derived import WithFields
from ganeti_tx.model.opcodes.types import FinalStatus, NonNegative

Dependency = tuple[int, tuple[FinalStatus, ...]]
"""A job id (negative: relative to this job in one submission) and the final states of it that let this job run."""

Reason = tuple[str, str, int]
"""Who, why, and when in nanoseconds since the epoch."""

ABBREVIATIONS = {"CLUSTER_": "C_", "GROUP_": "G_", "INSTANCE_": "I_", "NODE_": "N_"}


class OpCodeType(WithFields):
    """Makes every opcode class frozen and keyword-only, which a Struct does not inherit."""

    def __new__(mcls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **config: Any) -> type:
        return super().__new__(mcls, name, bases, namespace, **{"frozen": True, "kw_only": True, **config})


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(msgspec.field,))
class OpCode(
    msgspec.Struct, metaclass=OpCodeType, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="OP_ID"
):
    """One operation on the cluster, as a client asks for it; subclasses are tagged with their OP_ID."""

    dry_run: bool | None = None
    debug_level: NonNegative | None = None
    priority: Literal[-10, 0, 10] = 0
    depends: tuple[Dependency, ...] | None = None
    comment: str | None = None
    reason: tuple[Reason, ...] = ()

    summary_field: ClassVar[str | None] = None
    """The parameter that the summary shows."""

    wire_required: ClassVar[tuple[str, ...]] = ("reason",)
    """Parameters that the queue demands although they have a default."""

    @classmethod
    def op_id(cls) -> str:
        """The name on the wire, such as OP_INSTANCE_REBOOT."""
        return str(cls.__struct_config__.tag)

    @classmethod
    def upgrade(cls, raw: Mapping[str, Any]) -> Mapping[str, Any]:
        """Old spellings of parameters turned into the current ones; what is malformed stays as it is."""
        return raw


def summary(op: OpCode) -> str:
    """What the job lists show, such as INSTANCE_REBOOT(web1)."""
    name = op.op_id().removeprefix("OP_")
    if op.summary_field is None:
        return name
    value = getattr(op, op.summary_field)
    shown = ",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
    return f"{name}({shown})"


def short_summary(op: OpCode) -> str:
    """The summary with the frequent nouns abbreviated, such as I_REBOOT(web1), where room is scarce."""
    text = summary(op)
    for noun, letter in ABBREVIATIONS.items():
        if text.startswith(noun):
            return letter + text.removeprefix(noun)
    return text
