"""RADOS block devices of Ceph."""

from typing import NamedTuple

from ganeti_tx.model.base import Wire
from ganeti_tx.model.disk_template import ACCESS, Mirrored, Template
from ganeti_tx.model.enums import StorageType


class RbdId(NamedTuple):
    """The word "rbd", and the image's name in the pool."""

    driver: str
    name: str


class RbdParams(Wire, frozen=True, kw_only=True, rename="kebab", omit_defaults=False):
    """The pool, and how the hypervisor opens its images."""

    access: str = "kernelspace"
    pool: str = "rbd"


TEMPLATE = Template(
    logical_id=RbdId,
    storage=StorageType.RADOS,
    pool_param="pool",
    name="{uuid}.rbd.disk{index}",
    locate=lambda place, name: RbdId("rbd", name),
    keys=frozenset(ACCESS),
    params=RbdParams,
    choices=ACCESS,
    mirrored=Mirrored.EXTERNALLY,
    snapshots=True,
    driver="rbd",
)
