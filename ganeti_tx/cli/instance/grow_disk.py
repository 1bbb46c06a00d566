"""gnt-instance grow-disk."""

from collections.abc import Sequence

from ganeti_tx.cli.options import (
    DRY_RUN,
    ONE_INSTANCE,
    PRIORITY,
    SUBMITTING,
    Argument,
    Command,
    negative,
    switch,
)  # fmt: skip
from ganeti_tx.cli.parsing import Parsed
from ganeti_tx.cli.session import Session
from ganeti_tx.cli.submit import opcode, run_opcode, unless
from ganeti_tx.cli.values import InvalidValue, parse_int, parse_size
from ganeti_tx.errors import ECode, ExitCode, OpPrereqError


def grow(session: Session, options: Parsed, words: Sequence[str]) -> int:
    """Enlarge a disk by an amount, or to it. @raise OpPrereqError: the words are no index and no size."""
    name, index, amount = words
    op = opcode(
        "OP_INSTANCE_GROW_DISK",
        instance_name=name,
        disk=disk_index(index),
        amount=size_of(amount),
        wait_for_sync=unless(True, options.wait_for_sync),
        absolute=unless(False, options.absolute),
        ignore_ipolicy=unless(False, options.ignore_ipolicy),
    )
    run_opcode(session, options, op)
    return ExitCode.SUCCESS


def disk_index(text: str) -> int:
    """@raise OpPrereqError: no disk can have this index."""
    try:
        return parse_int(text)
    except InvalidValue as error:
        raise OpPrereqError(f"Invalid disk index: {error}", ECode.INVAL) from None


def size_of(text: str) -> int:
    """MiB. @raise OpPrereqError: it is no size."""
    try:
        return parse_size(text)
    except InvalidValue:
        raise OpPrereqError(f"Can't parse the given amount '{text:.100}'", ECode.INVAL) from None


GROW = Command(
    grow,
    (*ONE_INSTANCE, Argument("unknown", 1, 1, shown="disk"), Argument("unknown", 1, 1, shown="amount")),
    (
        *SUBMITTING,
        negative("--no-wait-for-sync", "wait_for_sync", "do not wait until what is new of a mirrored disk is in sync"),
        DRY_RUN,
        PRIORITY,
        switch("--absolute", "absolute", "the amount is the size that the disk shall have, not what is added"),
        switch("--ignore-ipolicy", "ignore_ipolicy", "also to a size that the instance policy does not admit"),
    ),
)
