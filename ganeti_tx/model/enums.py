"""The closed sets of words that configuration objects and opcodes share; each member equals its JSON string."""

from enum import StrEnum

from ganeti_tx.model.declared import Words, members_in


class DiskTemplate(StrEnum, metaclass=Words):
    """How the disks of an instance are stored: what `disk_templates` declares."""

    vars().update(members_in("disk_templates"))


class StorageType(StrEnum):
    """A kind of storage that a node reports on."""

    BLOCKDEV = "blockdev"
    DISKLESS = "diskless"
    EXT = "ext"
    FILE = "file"
    GLUSTER = "gluster"
    LVM_PV = "lvm-pv"
    LVM_VG = "lvm-vg"
    RADOS = "rados"
    SHAREDFILE = "sharedfile"


#: The kinds of storage of which nodes tell the units, in the order in which they are offered.
REPORTED_STORAGE = (
    StorageType.FILE, StorageType.LVM_PV, StorageType.LVM_VG, StorageType.SHAREDFILE, StorageType.GLUSTER,
)  # fmt: skip


class Hypervisor(StrEnum, metaclass=Words):
    """What runs an instance on its node: what `hypervisors` declares."""

    vars().update(members_in("hypervisors"))


class AdminState(StrEnum):
    """What the configuration wants of an instance."""

    DOWN = "down"
    OFFLINE = "offline"
    UP = "up"


class AdminStateSource(StrEnum):
    """Who last decided the admin state: the administrator, or the user inside the instance."""

    ADMIN = "admin"
    USER = "user"


class AllocPolicy(StrEnum):
    """Whether allocation may pick a node group."""

    LAST_RESORT = "last_resort"
    PREFERRED = "preferred"
    UNALLOCABLE = "unallocable"


class FileDriver(StrEnum):
    """How Xen attaches a disk kept in a file."""

    BLKTAP = "blktap"
    BLKTAP2 = "blktap2"
    LOOP = "loop"


class NicMode(StrEnum):
    """How a network card is tied to its node; POOL takes the mode from the network."""

    BRIDGED = "bridged"
    OPENVSWITCH = "openvswitch"
    POOL = "pool"
    ROUTED = "routed"


class TagKind(StrEnum):
    """What can carry tags."""

    CLUSTER = "cluster"
    INSTANCE = "instance"
    NETWORK = "network"
    NODE = "node"
    NODEGROUP = "nodegroup"
