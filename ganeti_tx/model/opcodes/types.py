"""The named types of opcode parameters, besides those that settings have as well, and the words allowed."""

from enum import StrEnum
from typing import Annotated

import msgspec

from ganeti_tx.model.values import IdRange as IdRange
from ganeti_tx.model.values import ListAction as ListAction
from ganeti_tx.model.values import NicKey as NicKey
from ganeti_tx.model.values import NicParams as NicParams
from ganeti_tx.model.values import NonEmpty as NonEmpty
from ganeti_tx.model.values import NonNegative as NonNegative
from ganeti_tx.model.values import Params as Params
from ganeti_tx.model.values import Positive as Positive

MiB = NonNegative
"""A size in mebibytes."""

Seconds = NonNegative
"""A span in whole seconds."""

DiskIndex = Annotated[int, msgspec.Meta(ge=0, le=15)]
"""The place of a disk in its instance, which has at most 16."""

DiskParams = dict[NonEmpty, NonEmpty | int]
"""What a request says of one disk; the names depend on the disk template."""

DEFAULT_SHUTDOWN_TIMEOUT = 120
"""Seconds an instance gets to shut down before it is stopped by force."""

NO_COMPRESSION = "none"


class FinalStatus(StrEnum):
    """How a job that another waits for may end."""

    CANCELED = "canceled"
    ERROR = "error"
    SUCCESS = "success"


class ChangeAction(StrEnum):
    """What happens to one item of a list: a disk, a network card, a hidden operating system."""

    ADD = "add"
    ATTACH = "attach"
    DETACH = "detach"
    MODIFY = "modify"
    REMOVE = "remove"


class DiskChange(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """One change of an instance's disks; the item is an index (-1: the end), a name or a uuid."""

    action: ChangeAction
    item: int | str
    params: DiskParams


class NicChange(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """One change of an instance's network cards; the item is an index (-1: the end), a name or a uuid."""

    action: ChangeAction
    item: int | str
    params: NicParams


class DiskToRecreate(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """A disk to be made anew, with what shall be different about it.

    A class and not a tuple: msgspec 0.22 crashes on a fixed tuple in a union with a number that has limits.
    """

    index: NonNegative
    params: DiskParams


class InstanceCreateMode(StrEnum):
    """Where a new instance gets its content from."""

    CREATE = "create"
    IMPORT = "import"
    REMOTE_IMPORT = "remote-import"


class ExportMode(StrEnum):
    """Whether an export stays in the cluster."""

    LOCAL = "local"
    REMOTE = "remote"


class RebootType(StrEnum):
    """Whether the guest, the hypervisor's process, or disks as well are started anew."""

    FULL = "full"
    HARD = "hard"
    SOFT = "soft"


class MigrationMode(StrEnum):
    """Whether the guest runs on while it moves."""

    LIVE = "live"
    NON_LIVE = "non-live"


class ReplaceDisksMode(StrEnum):
    """Which of the two mirrors gets new disks, and who chooses the node."""

    AUTO = "replace_auto"
    NEW_SECONDARY = "replace_new_secondary"
    ON_PRIMARY = "replace_on_primary"
    ON_SECONDARY = "replace_on_secondary"


class EvacuationMode(StrEnum):
    """Which instances leave a node: those running there, those mirrored there, or both."""

    ALL = "all"
    PRIMARY_ONLY = "primary-only"
    SECONDARY_ONLY = "secondary-only"


class OobCommand(StrEnum):
    """What the out-of-band program of a node is asked to do."""

    HEALTH = "health"
    POWER_CYCLE = "power-cycle"
    POWER_OFF = "power-off"
    POWER_ON = "power-on"
    POWER_STATUS = "power-status"


class JobQueryKind(StrEnum):
    """What is queried by a job, since luxid itself cannot answer."""

    CLUSTER = "cluster"
    EXTSTORAGE = "extstorage"
    OS = "os"


class SshKeyType(StrEnum):
    """The algorithm of the cluster's SSH keys."""

    DSA = "dsa"
    ECDSA = "ecdsa"
    RSA = "rsa"


class AllocatorDirection(StrEnum):
    """Whether the test shows what the allocator would get, or runs it."""

    IN = "in"
    OUT = "out"


class AllocatorMode(StrEnum):
    """What the allocator is asked for."""

    ALLOCATE = "allocate"
    ALLOCATE_SECONDARY = "allocate-secondary"
    CHANGE_GROUP = "change-group"
    MULTI_ALLOCATE = "multi-allocate"
    NODE_EVACUATE = "node-evacuate"
    RELOCATE = "relocate"


class OptionalCheck(StrEnum):
    """A part of cluster verification that may be skipped."""

    NPLUSONE_MEM = "nplusone_mem"
