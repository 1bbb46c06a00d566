"""No disks at all."""

from ganeti_tx.model.disk_template import Mirrored, Template
from ganeti_tx.model.enums import StorageType
from ganeti_tx.model.logical_id import NoId

TEMPLATE = Template(
    logical_id=NoId,
    storage=StorageType.DISKLESS,
    mirrored=Mirrored.EXTERNALLY,
    has_disks=False,
    growable=False,
    convertible_from=False,
    convertible_to=False,
    driver="diskless",
)
