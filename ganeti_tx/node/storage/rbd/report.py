"""What `rbd` prints."""

import re

import msgspec

from ganeti_tx.errors import BlockDeviceError
from ganeti_tx.node.storage.interfaces import PoolSpace
from ganeti_tx.node.storage.rbd.image import Image
from ganeti_tx.runtime.process import ProcessResult

MIB = 1 << 20
#: How the lines begin that say what is wrong; the others are logs of libraries and good advice.
FAULT = re.compile(r"(rbd|RBD|modprobe)\b.*\S")
#: What the library's log puts before its words, in the middle of a line too.
LOGGED = re.compile(r"\d{4}-\d\d-\d\dT\S+ [0-9a-f]+ +-?\d+ ")
MAX_REASON = 500


class PresentImage(msgspec.Struct, frozen=True):
    """An image that is there; `size` is bytes."""

    size: int

    @property
    def mib(self) -> int:
        """Whole MiB."""
        return self.size // MIB


class Mapped(msgspec.Struct, frozen=True):
    """An image that has a device of the kernel; `snap` is "-" for the image itself."""

    pool: str
    name: str
    device: str
    snap: str = "-"
    namespace: str = ""

    def is_of(self, image: Image) -> bool:
        """Whether it is this one, and not a snapshot of it."""
        return (self.pool, self.namespace, self.name, self.snap) == (image.pool, "", image.name, "-")


def parse_info(text: bytes) -> PresentImage:
    """@raise BlockDeviceError: it is nothing of the kind."""
    try:
        return msgspec.json.decode(text, type=PresentImage)
    except msgspec.MsgspecError as error:
        raise BlockDeviceError(f"cannot read what rbd info printed: {error}; it begins with {text[:200]!r}") from None


def parse_mapped(text: bytes) -> list[Mapped]:
    """By number in older versions, in a list in newer ones. @raise BlockDeviceError: it is neither."""
    try:
        found = msgspec.json.decode(text or b"[]", type=list[Mapped] | dict[str, Mapped])
    except msgspec.MsgspecError as error:
        raise BlockDeviceError(
            f"cannot read what rbd showmapped printed: {error}; it begins with {text[:200]!r}"
        ) from None
    return list(found.values()) if isinstance(found, dict) else found


class _PoolStats(msgspec.Struct, frozen=True):
    stored: int
    max_avail: int


class _Pool(msgspec.Struct, frozen=True):
    name: str
    stats: _PoolStats


class _Pools(msgspec.Struct, frozen=True):
    pools: list[_Pool]


def parse_space(text: bytes, pool: str) -> PoolSpace:
    """A pool's data, and what more of them it can take, whatever its copies need. @raise BlockDeviceError: it is not told."""
    try:
        found = {each.name: each.stats for each in msgspec.json.decode(text, type=_Pools).pools}
    except msgspec.MsgspecError as error:
        raise BlockDeviceError(f"cannot read what ceph df printed: {error}; it begins with {text[:200]!r}") from None
    if pool not in found:
        raise BlockDeviceError(f"ceph df tells of no pool {pool!r}; it tells of: {', '.join(sorted(found)) or 'none'}")
    stats = found[pool]
    return PoolSpace(size=(stats.stored + stats.max_avail) // MIB, free=stats.max_avail // MIB)


def reason(result: ProcessResult) -> str:
    """Why it failed, in one line."""
    if result.timed_out or result.signal is not None:
        return result.describe()
    lines = [LOGGED.sub("", line).strip() for line in result.stderr.decode("utf-8", "replace").splitlines()]
    faults = [line for line in lines if FAULT.match(line)]
    return "; ".join(faults)[:MAX_REASON] or result.describe()
