"""Sizes of a new instance as the allocators' first design spells them: `-m 2g --os-size 1g --swap-size 512m`."""

from ganeti_tx.cli.options import Option
from ganeti_tx.cli.parsing import Parsed, UsageError
from ganeti_tx.cli.values import KeyValues

MEMORY_KEYS = ("maxmem", "memory", "minmem")
OPTIONS = (
    Option(
        ("-m",),
        "old_memory",
        "old spelling: the memory, as --backend-parameters memory=SIZE",
        "unit",
        metavar="<size>",
        own=True,
    ),
    Option(
        ("--swap-size",),
        "swap_size",
        "old spelling: size of a second disk, beside --os-size",
        "unit",
        metavar="<size>",
        own=True,
    ),
)


def with_old_memory(options: Parsed) -> KeyValues:
    """The backend parameters as typed. @raise UsageError: the memory is given twice."""
    given: KeyValues = options.beparams
    if options.old_memory is None:
        return given
    if twice := [key for key in MEMORY_KEYS if key in given]:
        raise UsageError(f"-m and the backend parameter {twice[0]} both give the memory: give one of them")
    return {**given, "memory": str(options.old_memory)}


def swap_disks(options: Parsed) -> list[dict[str, int]]:
    """The disk behind the first one, if there is to be one. @raise UsageError: it would not be the second."""
    if options.swap_size is None:
        return []
    if options.sd_size is None:
        raise UsageError("--swap-size is the second disk's, beside the first one of --os-size; use --disk for others")
    return [{"size": options.swap_size}]
