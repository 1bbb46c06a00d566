"""Volumes of storage that its provider's scripts know how to handle."""

from typing import NamedTuple

from ganeti_tx.model.base import Wire
from ganeti_tx.model.disk_template import ACCESS, Mirrored, Template
from ganeti_tx.model.enums import StorageType


class ExtId(NamedTuple):
    """The provider, and the volume's name there."""

    provider: str
    name: str


class ExtParams(Wire, frozen=True, kw_only=True, rename="kebab", omit_defaults=False):
    """How the hypervisor opens the volume."""

    access: str = "kernelspace"


TEMPLATE = Template(
    logical_id=ExtId,
    storage=StorageType.EXT,
    name="{uuid}.ext.disk{index}",
    locate=lambda place, name: ExtId(str(place.said["provider"]), name),
    keys=frozenset(ACCESS),
    provider_key="provider",
    params=ExtParams,
    choices=ACCESS,
    mirrored=Mirrored.EXTERNALLY,
    snapshots=True,
    may_snapshot=True,
    driver="ext",
)
