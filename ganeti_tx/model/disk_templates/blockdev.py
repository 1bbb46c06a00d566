"""Block devices that are there already and that all nodes see."""

from typing import NamedTuple

from ganeti_tx.model.disk_template import Adoption, Mirrored, Template
from ganeti_tx.model.enums import StorageType


class BlockdevId(NamedTuple):
    """The word "manual", and the device's path below /dev/disk."""

    driver: str
    path: str


TEMPLATE = Template(
    logical_id=BlockdevId,
    locate=lambda place, name: BlockdevId("manual", name),
    storage=StorageType.BLOCKDEV,
    mirrored=Mirrored.EXTERNALLY,
    adoption=Adoption.ALWAYS,
    adoptable="/dev/disk",
    unique="block device",
    growable=False,
    driver="blockdev",
    convertible_to=False,
)
