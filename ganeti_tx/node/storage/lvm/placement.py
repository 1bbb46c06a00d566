"""On which physical volumes a new logical volume is to lie."""

from collections.abc import Collection, Sequence

from ganeti_tx.errors import BlockDeviceError
from ganeti_tx.node.storage.lvm.report import MIB, Physical

#: The part of a physical volume that is not counted on with exclusive storage (reference: storage-rules.json).
RESERVE = 0.02


def emptiest(physical: Sequence[Physical]) -> list[Physical]:
    """Those that new volumes may lie on, most free room first."""
    return sorted(
        (each for each in physical if each.allocatable and each.pv_free > 0),
        key=lambda each: (-each.pv_free, each.pv_name),
    )


def fewest(
    physical: Sequence[Physical], size: int, stripes: int = 1, beside: Collection[str] = frozenset()
) -> list[str]:
    """As few as will do for `size` MiB, with those counted that lie `beside` it already; but one for each stripe.

    All that there are, when they do not suffice: LVM says then what is missing.
    """
    able = emptiest(physical)
    if stripes > 1:
        part = -(-size * MIB // stripes)
        wide = sorted((each for each in able if each.pv_free >= part), key=lambda each: each.pv_name not in beside)
        return names(wide[:stripes] if len(wide) >= stripes else able)
    own = [each for each in able if each.pv_name in beside]
    others = [each for each in able if each.pv_name not in beside]
    wanted = size * MIB
    for count in range(len(others) + 1):
        if free(others[:count]) + free(own) >= wanted:
            lacking = wanted - free(others[:count])
            return names([*others[:count], *enough(own, lacking)])
    return names(able)


def free(physical: Sequence[Physical]) -> int:
    """Bytes."""
    return sum(each.pv_free for each in physical)


def enough(physical: Sequence[Physical], wanted: int) -> list[Physical]:
    """As many of them, in their order, as have so many bytes free."""
    count = next(count for count in range(len(physical) + 1) if free(physical[:count]) >= wanted)
    return list(physical[:count])


def whole(physical: Sequence[Physical], size: int, spindles: int | None = None) -> list[str]:
    """As few as will do for `size` MiB of those on which nothing lies (exclusive storage); or so many as `spindles` says.

    @raise BlockDeviceError: these are too few, or there are not so many.
    """
    empty = [each for each in emptiest(physical) if each.pv_free == each.pv_size]
    needed = next((count for count in range(1, len(empty) + 1) if usable(empty[:count]) >= size * MIB), None)
    if needed is None:
        raise BlockDeviceError(
            f"{size} MiB do not fit on physical volumes that are empty, as exclusive storage wants:"
            f" {len(empty)} are, with {usable(empty) // MIB} MiB"
        )
    if spindles is not None and not needed <= spindles <= len(empty):
        raise BlockDeviceError(
            f"{size} MiB cannot have {spindles} physical volumes for themselves; allowed are {needed} to {len(empty)}"
        )
    return names(empty[: spindles or needed])


def usable(physical: Sequence[Physical]) -> int:
    """Bytes of them that are counted on."""
    return sum(int(each.pv_size * (1 - RESERVE)) for each in physical)


def names(physical: Sequence[Physical]) -> list[str]:
    """As LVM's commands take them."""
    return [each.pv_name for each in physical]
