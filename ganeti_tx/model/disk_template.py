"""What a disk template is declared by; all that the program knows of templates is read off it."""

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any

import msgspec

from ganeti_tx.model.base import Wire
from ganeti_tx.model.enums import StorageType
from ganeti_tx.model.logical_id import NodeUuid, kinds
from ganeti_tx.model.verify_codes import VerifyCode

#: What an operator may say of a disk of any template.
COMMON_KEYS = frozenset({"size", "mode", "name", "spindles"})
#: What an operator says of a disk that is made of something which is there already.
ADOPT = "adopt"
#: How a hypervisor opens a disk: as a device of the node's kernel, or by itself.
ACCESS = {"access": ("kernelspace", "userspace")}
#: How the bytes of a disk lie in its file: as they are, or as QEMU keeps them (doc/design/file-storage.rst).
RAW, QCOW2 = "raw", "qcow2"
FORMAT = {"format": (RAW, QCOW2)}


class NoDiskParams(Wire, frozen=True, kw_only=True):
    """Templates without parameters."""


class Mirrored(StrEnum):
    """Who keeps a second copy of a disk: nobody, the cluster on another node, or the storage itself, seen by all nodes."""

    NOT = "not"
    INTERNALLY = "internally"
    EXTERNALLY = "externally"


class Adoption(StrEnum):
    """Whether a disk is made of something that is there already."""

    NEVER = "never"
    POSSIBLE = "possible"
    ALWAYS = "always"


class Child(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """A disk that others are made of.

    @ivar suffix: of its name, behind that of the whole disk.
    @ivar size: MiB; None is the size of the whole disk.
    @ivar pool_key: what an operator says of a disk to choose the pool, which else is that of `pool_param`, or the cluster's.
    @ivar pool_param: the disk parameter that names the pool.
    @ivar params: its own parameters, by the parameters of the whole disk that they are taken from.
    """

    template: str
    suffix: str
    size: int | None = None
    pool_key: str
    pool_param: str | None = None
    params: Mapping[str, str] = {}


class DirectoryCheck(msgspec.Struct, frozen=True, eq=False):
    """How nodes are asked whether the pool is a directory that they may use, and the code of one that is not."""

    name: str
    code: VerifyCode


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """Where a new disk is to be: its pool, the directory in it that is its instance's, how Xen attaches it if it is a file,
    and what the operator said of it.
    """

    pool: str
    directory: str
    driver: str
    said: Mapping[str, Any] = {}


class Template(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """One disk template (reference: config.json, storage-rules.json).

    @ivar logical_id: a NamedTuple whose types say what the parts are (`logical_id.py`).
    @ivar storage: the kind of storage that its disks lie in.
    @ivar pool: the cluster's setting that names the pool they lie in, if it is one whose room nodes tell.
    @ivar pool_key: what an operator says of a disk to have it in another pool.
    @ivar pool_param: the disk parameter that names a pool which an administrator has made before, outside of the cluster.
    @ivar name: of a new disk on its storage, with `uuid` and `index`.
    @ivar locate: the logical id of a new disk by its place and name, unless it is made of what the cluster hands out.
    @ivar keys: what an operator may say of a disk besides, and besides what all know.
    @ivar provider_key: what an operator says of a disk to choose the provider that has it; all else that is said of it are
        parameters of that provider's own.
    @ivar fixed: what an operator may say of a new disk, and which is so as long as that lives: the words that are allowed, of
        which the first holds, and is recorded nowhere, if nothing is said.
    @ivar params: the disk parameters, with their built-in values.
    @ivar choices: the values that are allowed, of parameters that are one of some words or numbers.
    @ivar on_node: how parameters are called where they reach the node, as far as they are called otherwise.
    @ivar unique: what its id is called if two disks on a node may not have the same.
    @ivar adoptable: the directory below which what is adopted must be; None: in the disk's pool.
    @ivar check: of the pool on each node, if it is a directory.
    @ivar in_files: whether the disks are files to scripts and hypervisors.
    @ivar by_default: whether Ganeti enables it in a cluster that says nothing of templates.
    @ivar may_snapshot: whether some of its disks can have snapshots though others cannot, so that nodes are asked.
    @ivar served: whether servers that an administrator has set up have the disks, so that no new cluster enables it unasked.
    @ivar driver: the package below node/storage that has its driver; None: not built, so it is not available.
    """

    logical_id: type[tuple[Any, ...]]
    storage: StorageType
    pool: str | None = None
    pool_key: str | None = None
    pool_param: str | None = None
    name: str = "{uuid}.disk{index}"
    locate: Callable[[Place, str], tuple[Any, ...]] | None = None
    keys: frozenset[str] = frozenset()
    provider_key: str | None = None
    fixed: Mapping[str, tuple[str, ...]] = {}
    params: type[Wire] = NoDiskParams
    choices: Mapping[str, tuple[str | int, ...]] = {}
    on_node: Mapping[str, str] = {}
    children: tuple[Child, ...] = ()
    mirrored: Mirrored = Mirrored.NOT
    unique: str | None = None
    check: DirectoryCheck | None = None
    in_files: bool = False
    has_disks: bool = True
    adoption: Adoption = Adoption.NEVER
    adoptable: str | None = None
    growable: bool = True
    snapshots: bool = False
    may_snapshot: bool = False
    convertible_from: bool = True
    convertible_to: bool = True
    by_default: bool = False
    served: bool = False
    driver: str | None = None

    @property
    def secondaries(self) -> int:
        """How many nodes have the disk besides the primary one; those of shared storage count as none."""
        return max(0, kinds(self.logical_id).count(NodeUuid) - 1)

    @property
    def known(self) -> frozenset[str]:
        """What an operator may say of a disk besides what all know."""
        adopt = ADOPT if self.adoption is not Adoption.NEVER else None
        return (
            self.keys
            | self.pool_keys
            | self.fixed.keys()
            | {key for key in (adopt, self.provider_key) if key is not None}
        )

    @property
    def pool_keys(self) -> frozenset[str]:
        """What an operator says of a disk to choose pools."""
        keys = (self.pool_key, *(child.pool_key for child in self.children))
        return frozenset(key for key in keys if key is not None)

    @property
    def needs(self) -> frozenset[str]:
        """What an operator must say of each disk besides, as nobody else can choose it."""
        adopt = ADOPT if self.adoption is Adoption.ALWAYS else None
        return frozenset(key for key in (adopt, self.provider_key) if key is not None)

    @property
    def shared(self) -> bool:
        """Whether every node reaches the disk, so that it is on none."""
        return self.mirrored is Mirrored.EXTERNALLY

    def room(self, size: int) -> int:
        """MiB that a disk of a size takes on each of its nodes; what was there before takes none of the cluster's."""
        if not self.has_disks or self.adoption is Adoption.ALWAYS:
            return 0
        return size + sum(child.size for child in self.children if child.size is not None)

    @property
    def available(self) -> bool:
        """Whether instances can have it."""
        return self.driver is not None
