"""The commands that change logical, physical volumes and their groups; sizes are MiB."""

from collections.abc import Sequence


def create(
    group: str, name: str, size: int, stripes: int = 1, upon: Sequence[str] = (), stripe_size: int | None = None
) -> list[str]:
    """A new volume, upon some of the physical volumes; what is left there of a file system or a label is wiped.

    @param stripe_size: KiB that lie on one of them before the next one's turn; LVM's own choice if it is not given.
    """
    spread = ["--stripes", str(stripes)] if stripes > 1 else []
    if spread and stripe_size is not None:
        spread += ["--stripesize", f"{stripe_size}k"]
    return ["lvcreate", "--yes", "--wipesignatures", "y", "--size", f"{size}m", *spread, "--name", name, group, *upon]


def snapshot(group: str, name: str, made: str, size: int, upon: Sequence[str] = ()) -> list[str]:
    """A volume with the present content of another; `size` is room for what changes."""
    return ["lvcreate", "--yes", "--snapshot", "--size", f"{size}m", "--name", made, f"{group}/{name}", *upon]


def remove(group: str, name: str) -> list[str]:
    """Of the volume, and of its snapshots."""
    return ["lvremove", "--force", f"{group}/{name}"]


def rename(group: str, name: str, new: str) -> list[str]:
    """In the same group."""
    return ["lvrename", group, name, new]


def extend(group: str, name: str, amount: int, dry_run: bool, upon: Sequence[str] = ()) -> list[str]:
    """More room at the end; what was left there is not wiped."""
    return ["lvextend", *(["--test"] if dry_run else []), "--size", f"+{amount}m", f"{group}/{name}", *upon]


def activate(group: str, name: str, active: bool) -> list[str]:
    """Make the device, or take it away."""
    return ["lvchange", "--activate", "y" if active else "n", f"{group}/{name}"]


def retag(group: str, name: str, old: Sequence[str], new: str) -> list[str]:
    """Put a tag in the place of others."""
    gone = [word for tag in old for word in ("--deltag", tag)]
    return ["lvchange", *gone, "--addtag", new, f"{group}/{name}"]


def allocatable(device: str, allowed: bool) -> list[str]:
    """Whether new volumes may lie on a physical volume."""
    return ["pvchange", "--allocatable", "y" if allowed else "n", device]


def without_missing(group: str) -> list[str]:
    """Forget the physical volumes of a group that are not there, unless logical volumes lie on them."""
    return ["vgreduce", "--removemissing", group]
