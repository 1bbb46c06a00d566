"""Opcodes about external storage providers."""

from ganeti_tx.model.opcodes.base import OpCode
from ganeti_tx.model.opcodes.types import NonEmpty


class OpExtStorageDiagnose(OpCode, tag="OP_EXT_STORAGE_DIAGNOSE"):
    """Tell which external storage providers work on which nodes."""

    output_fields: tuple[NonEmpty, ...]
    names: tuple[NonEmpty, ...] = ()
