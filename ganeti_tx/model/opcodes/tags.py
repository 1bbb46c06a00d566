"""Opcodes about tags."""

from ganeti_tx.model.enums import TagKind
from ganeti_tx.model.opcodes.base import OpCode
from ganeti_tx.model.opcodes.types import NonEmpty


class OpTagsGet(OpCode, tag="OP_TAGS_GET"):
    """List the tags of an object."""

    summary_field = "name"

    kind: TagKind
    use_locking: bool = False
    name: str | None = None


class OpTagsSearch(OpCode, tag="OP_TAGS_SEARCH"):
    """Find objects by a pattern on their tags."""

    summary_field = "pattern"

    pattern: NonEmpty


class OpTagsSet(OpCode, tag="OP_TAGS_SET"):
    """Add tags to an object."""

    kind: TagKind
    tags: tuple[str, ...]
    name: str | None = None


class OpTagsDel(OpCode, tag="OP_TAGS_DEL"):
    """Take tags from an object."""

    kind: TagKind
    tags: tuple[str, ...]
    name: str | None = None
