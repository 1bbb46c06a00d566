"""Logical volumes of LVM."""

from typing import NamedTuple

from msgspec import UNSET, UnsetType

from ganeti_tx.model.base import Wire
from ganeti_tx.model.disk_template import Adoption, Template
from ganeti_tx.model.enums import StorageType


class VolumeId(NamedTuple):
    """The volume group, and the logical volume in it."""

    vg: str
    name: str


#: KiB that LVM can spread by.
STRIPE_SIZES = tuple(1 << power for power in range(2, 20))


class PlainParams(Wire, frozen=True, kw_only=True, rename="kebab", omit_defaults=False):
    """Over how many physical volumes each is spread, and by how many KiB at a time, if that is not left to LVM (design-2.1)."""

    stripes: int = 1
    stripe_size: int | UnsetType = UNSET


TEMPLATE = Template(
    logical_id=VolumeId,
    storage=StorageType.LVM_VG,
    pool="volume_group_name",
    pool_key="vg",
    locate=lambda place, name: VolumeId(place.pool, name),
    params=PlainParams,
    choices={"stripe-size": STRIPE_SIZES},
    unique="logical volume",
    adoption=Adoption.POSSIBLE,
    snapshots=True,
    by_default=True,
    driver="lvm",
)
