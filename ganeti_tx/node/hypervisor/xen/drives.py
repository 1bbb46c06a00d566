"""The disks of a domain, as xl-disk-configuration(5) has them."""

from collections.abc import Iterator, Sequence
from string import ascii_lowercase

from ganeti_tx.node.hypervisor.disk_formats import check_raw
from ganeti_tx.node.hypervisor.interfaces import AttachedDisk

#: Where an emulated machine has its CD-ROM.
CDROM = "hdc"


def disk_entries(disks: Sequence[AttachedDisk], prefix: str, cdrom: str = "") -> Iterator[str]:
    """An entry for each; a disk never gets the place of the CD-ROM. @raise HypervisorError: Xen cannot have one."""
    places = (prefix + letter for letter in ascii_lowercase if not cdrom or prefix + letter != CDROM)
    for disk, place in zip(disks, places, strict=False):
        check_raw(disk)
        yield _entry(place, "ro" if disk.spec.mode == "ro" else "rw", disk.path)
    if cdrom:
        yield _entry(CDROM, "ro", cdrom, "devtype=cdrom,")


def _entry(place: str, access: str, path: str, more: str = "") -> str:
    """The path is last: it is the only part that may have commas."""
    return f"format=raw,vdev={place},access={access},{more}target={path}"
