"""Files on a Gluster volume."""

from typing import NamedTuple

from ganeti_tx.model.base import Wire
from ganeti_tx.model.disk_template import ACCESS, DirectoryCheck, Mirrored, Template
from ganeti_tx.model.enums import StorageType
from ganeti_tx.model.verify_codes import VerifyCode


class GlusterId(NamedTuple):
    """A file: how Xen attaches it, and its path, which is no instance's and so stays the same when one is renamed."""

    driver: str
    path: str


class GlusterParams(Wire, frozen=True, kw_only=True, rename="kebab", omit_defaults=False):
    """Where the volume is, and how the hypervisor opens it."""

    access: str = "kernelspace"
    host: str = "127.0.0.1"
    port: int = 24007
    volume: str = "gv0"


TEMPLATE = Template(
    logical_id=GlusterId,
    storage=StorageType.GLUSTER,
    pool="gluster_storage_dir",
    name="ganeti/{uuid}.{index}",
    locate=lambda place, name: GlusterId(place.driver, f"{place.pool}/{name}"),
    keys=frozenset(ACCESS),
    params=GlusterParams,
    choices=ACCESS,
    mirrored=Mirrored.EXTERNALLY,
    check=DirectoryCheck("gluster-storage-path", VerifyCode.ENODEGLUSTERSTORAGEPATHUNUSABLE),
    in_files=True,
    served=True,
    driver="gluster",
)
