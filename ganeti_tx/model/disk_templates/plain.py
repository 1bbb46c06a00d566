"""Logical volumes of LVM."""

from typing import NamedTuple

from ganeti_tx.model.base import Wire
from ganeti_tx.model.disk_template import Adoption, Template
from ganeti_tx.model.enums import StorageType


class VolumeId(NamedTuple):
    """The volume group, and the logical volume in it."""

    vg: str
    name: str


class PlainParams(Wire, frozen=True, kw_only=True, rename="kebab", omit_defaults=False):
    """Over how many physical volumes each is spread."""

    stripes: int = 1


TEMPLATE = Template(
    logical_id=VolumeId,
    storage=StorageType.LVM_VG,
    pool="volume_group_name",
    pool_key="vg",
    locate=lambda place, name: VolumeId(place.pool, name),
    params=PlainParams,
    unique="logical volume",
    adoption=Adoption.POSSIBLE,
    snapshots=True,
    by_default=True,
    driver="lvm",
)
