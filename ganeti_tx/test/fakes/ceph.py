"""A cluster of Ceph in memory, and nodes that reach it: what the programs `rbd` and `ceph` print and do (Ceph 16.2)."""

import errno
from collections.abc import Sequence

import msgspec
from attrs import define, field

from ganeti_tx.node.storage.device import Device
from ganeti_tx.runtime.process import ProcessResult
from ganeti_tx.test.fakes.devices import FakeDisk
from ganeti_tx.test.fakes.process import Call

MIB = 1 << 20
#: The programs.
PROGRAMS = ("rbd", "ceph")
NO_MODULE = """modinfo: ERROR: Module rbd not found.
modprobe: FATAL: Module rbd not found in directory /lib/modules/6.1.0
rbd: failed to load rbd kernel module (1)
rbd: failed to get mon address (possible ms_mode mismatch)
In some cases useful info is found in syslog - try "dmesg | tail".
rbd: map failed: (2) No such file or directory
"""
TAKEN = """rbd: create error: (17) File exists
2026-11-27T13:22:03.216+0000 7f5c38984380 -1 librbd: rbd image {} already exists
"""
WATCHED = """2026-11-27T13:40:01.100+0000 7fd0cafff640 -1 librbd::image::PreRemoveRequest: 0x55d2 check_image_watchers: watchers
rbd: error: image still has watchers
This means the image is still open or the client using it crashed. Try again after closing/unmapping it or waiting 30s.
"""
RENAMED_ONTO = """2026-11-27T13:22:03.468+0000 7f762c48d380 -1 librbd::Operations: rbd image {} already exists

rbd: rename error: (17) File exists
"""
NOT_CONNECTED = """2026-11-27T13:24:18.620+0000 7f4837827380  0 monclient(hunting): authenticate timed out after 20

rbd: couldn't connect to the cluster!
"""


def failed(status: int, text: str) -> ProcessResult:
    """How a program ends that says why."""
    return ProcessResult(status=status, stderr=text.encode())


def no_image(name: str) -> ProcessResult:
    """There is none of that name."""
    return failed(errno.ENOENT, f"rbd: error opening image {name}: (2) No such file or directory\n")


def printed(value: object) -> ProcessResult:
    """What is printed for programs."""
    return ProcessResult(stdout=msgspec.json.encode(value))


@define
class MemoryCeph:
    """Pools of images, by names. @ivar watched: images that a client has open, which died. @ivar up: whether it answers."""

    pools: dict[str, dict[str, FakeDisk]] = field(factory=lambda: {"rbd": {}})
    snapshots: dict[str, FakeDisk] = field(factory=dict)
    watched: set[str] = field(factory=set)
    up: bool = True
    nodes: list["CephNode"] = field(factory=list)

    def images(self) -> dict[str, FakeDisk]:
        """All that there are, by pool and name."""
        return {f"{pool}/{name}": disk for pool, images in self.pools.items() for name, disk in images.items()}

    def lose_images(self) -> None:
        """All are gone, whoever has them open."""
        for images in self.pools.values():
            images.clear()

    def is_open(self, spec: str) -> bool:
        """Whether some client has an image open."""
        return spec in self.watched or any(spec in node.mapped.values() for node in self.nodes)


@define
class CephNode:
    """One node's programs and kernel. @ivar kernel: whether that has the module. @ivar mapped: images by device, in order."""

    ceph: MemoryCeph
    kernel: bool = True
    mapped: dict[str, str] = field(factory=dict)
    ran: list[Sequence[str]] = field(factory=list)

    def __attrs_post_init__(self) -> None:
        self.ceph.nodes.append(self)

    def run(self, call: Call) -> ProcessResult:
        """What becomes of a program."""
        words = [word for word in call.argv[1:] if word != "--no-progress"]
        while words and words[0] in ("--conf", "--client_mount_timeout", "--connect-timeout"):
            words = words[2:]
        self.ran.append(words)
        if words[:1] == ["showmapped"]:
            return self._showmapped()
        if words[:1] == ["unmap"]:
            return self._unmap(words[1])
        if not self.ceph.up:
            return failed(1, NOT_CONNECTED)
        if call.argv[0] == "ceph":
            return self._df()
        return self._at_cluster(words)

    def look(self, path: str) -> Device | None:
        """As `node/storage/device.py` does."""
        spec = self.mapped.get(path)
        if spec is None:
            return None
        pool, _, name = spec.partition("/")
        return Device(self.ceph.pools[pool][name].size, (252, 16 * int(path.removeprefix("/dev/rbd"))))

    def behind(self, path: str) -> FakeDisk | None:
        """What is behind the path of a device, or behind the image that a program is told of."""
        pool, _, name = self.mapped.get(path, path.removeprefix("rbd:")).partition("/")
        return self.ceph.pools.get(pool, {}).get(name)

    def _at_cluster(self, words: list[str]) -> ProcessResult:
        spec = words[-1] if words[0] == "namespace" else next(word for word in words if "/" in word and word != "-")
        pool, _, name = spec.partition("@")[0].partition("/")
        if pool not in self.ceph.pools:
            return failed(errno.ENOENT, f"rbd: error opening pool '{pool}': (2) No such file or directory\n")
        images = self.ceph.pools[pool]
        if words[0] == "namespace":
            return printed([])
        if words[0] == "create":
            return self._make(images, name, FakeDisk(int(words[2])))
        if words[0] == "clone":
            state = self.ceph.snapshots[spec]
            return self._make(images, words[-1].partition("/")[2], FakeDisk(state.size, content=state.content))
        if words[0] == "rename":
            return self._rename(images, name, words[2].partition("/")[2])
        if name not in images:
            return no_image(name)
        return self._of_image(words, spec, images, name)

    def _of_image(self, words: list[str], spec: str, images: dict[str, FakeDisk], name: str) -> ProcessResult:
        image = images[name]
        if words[0] == "info":
            return printed({"name": name, "size": image.size * MIB, "order": 22, "format": 2})
        if words[0] == "resize":
            image.size = int(words[2])
        elif words[0] == "rm":
            if self.ceph.is_open(spec):
                return failed(errno.EBUSY, WATCHED)
            del images[name]
        elif words[0] == "map":
            return self._map(spec)
        elif words[:2] == ["image-meta", "set"]:
            image.owner = words[4]
        elif words[:2] == ["snap", "create"]:
            self.ceph.snapshots[spec] = FakeDisk(image.size, content=image.content)
        elif words[:2] == ["snap", "rm"]:
            del self.ceph.snapshots[spec]
        return ProcessResult()

    def _make(self, images: dict[str, FakeDisk], name: str, disk: FakeDisk) -> ProcessResult:
        if name in images:
            return failed(errno.EEXIST, TAKEN.format(name))
        images[name] = disk
        return ProcessResult()

    def _rename(self, images: dict[str, FakeDisk], name: str, new: str) -> ProcessResult:
        if name not in images:
            text = "rbd: rename error: 2026-11-27T13:22:03.404+0000 7f3252ab7380 -1 librbd: error opening source image {}\n"
            return failed(errno.ENOENT, text.format(name))
        if new in images:
            return failed(errno.EEXIST, RENAMED_ONTO.format(new))
        images[new] = images.pop(name)
        return ProcessResult()

    def _map(self, spec: str) -> ProcessResult:
        if not self.kernel:
            return failed(errno.ENOENT, NO_MODULE)
        number = next(number for number in range(99) if f"/dev/rbd{number}" not in self.mapped)
        self.mapped[f"/dev/rbd{number}"] = spec
        return ProcessResult(stdout=f"/dev/rbd{number}\n".encode())

    def _unmap(self, device: str) -> ProcessResult:
        if self.mapped.pop(device, None) is None:
            return failed(
                errno.EINVAL, f"rbd: '{device}' is not a block device\nrbd: unmap failed: (22) Invalid argument\n"
            )
        return ProcessResult()

    def _showmapped(self) -> ProcessResult:
        rows = []
        for device, spec in self.mapped.items():
            pool, _, name = spec.partition("/")
            number = device.removeprefix("/dev/rbd")
            rows.append({"id": number, "pool": pool, "namespace": "", "name": name, "snap": "-", "device": device})
        return printed(rows)

    def _df(self) -> ProcessResult:
        pools = [
            {
                "name": name,
                "id": 1,
                "stats": {"stored": sum(disk.size for disk in images.values()) * MIB, "max_avail": 1 << 40},
            }
            for name, images in self.ceph.pools.items()
        ]
        return printed({"stats": {}, "stats_by_class": {}, "pools": pools})
