"""Opcodes about operating system definitions."""

from ganeti_tx.model.opcodes.base import OpCode
from ganeti_tx.model.opcodes.types import NonEmpty


class OpOsDiagnose(OpCode, tag="OP_OS_DIAGNOSE"):
    """Tell which operating systems work on which nodes."""

    output_fields: tuple[NonEmpty, ...]
    names: tuple[NonEmpty, ...] = ()
    #: Beyond what Ganeti has (design-2.3, "Node groups"): only the nodes of this group are asked.
    group_name: NonEmpty | None = None
