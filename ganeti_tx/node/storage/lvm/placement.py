"""On which physical volumes a new logical volume is to lie."""

from collections.abc import Sequence

from ganeti_tx.node.storage.lvm.report import MIB, Physical


def emptiest(physical: Sequence[Physical]) -> list[Physical]:
    """Those that new volumes may lie on, most free room first."""
    return sorted(
        (each for each in physical if each.allocatable and each.pv_free > 0),
        key=lambda each: (-each.pv_free, each.pv_name),
    )


def fewest(physical: Sequence[Physical], size: int, stripes: int = 1) -> list[str]:
    """As few as will do for `size` MiB, but one for each stripe, each with room for its part.

    All that there are, when they do not suffice: LVM says then what is missing.
    """
    able = emptiest(physical)
    if stripes > 1:
        part = -(-size * MIB // stripes)
        wide = [each for each in able if each.pv_free >= part]
        return names(wide[:stripes] if len(wide) >= stripes else able)
    chosen: list[Physical] = []
    while sum(each.pv_free for each in chosen) < size * MIB and len(chosen) < len(able):
        chosen.append(able[len(chosen)])
    return names(chosen)


def names(physical: Sequence[Physical]) -> list[str]:
    """As LVM's commands take them."""
    return [each.pv_name for each in physical]
