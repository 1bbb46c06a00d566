"""Opcodes that answer queries which need a job."""

from typing import Any

from ganeti_tx.model.opcodes.base import OpCode
from ganeti_tx.model.opcodes.types import JobQueryKind, NonEmpty


class OpQuery(OpCode, tag="OP_QUERY"):
    """Answer a query by a job."""

    summary_field = "what"

    what: JobQueryKind
    use_locking: bool = False
    fields: tuple[NonEmpty, ...]
    qfilter: tuple[Any, ...] | None = None


class OpQueryFields(OpCode, tag="OP_QUERY_FIELDS"):
    """Tell which fields a query by a job knows."""

    summary_field = "what"

    what: JobQueryKind
    fields: tuple[NonEmpty, ...] | None = None
