"""A node on which volumes of Gluster can be mounted, in words only: the directory has the same files mounted or not."""

import errno
from pathlib import Path

from attrs import define, field

from ganeti_tx.node.storage.file.allowed_paths import AllowedPaths
from ganeti_tx.node.storage.file.driver import FileStorage
from ganeti_tx.node.storage.gluster.driver import GlusterStorage
from ganeti_tx.node.storage.gluster.mounts import GlusterMounts
from ganeti_tx.node.storage.gluster.pools import PLACES, PROGRAM
from ganeti_tx.node.storage.gluster.records import MountRecords
from ganeti_tx.runtime.process import ProcessResult
from ganeti_tx.runtime.threads import InlineThreads
from ganeti_tx.test.fakes.files import MemoryFiles
from ganeti_tx.test.fakes.process import Call, FakeProcessRunner
from ganeti_tx.test.inprocess.disk import put
from ganeti_tx.test.node.storage.file.test_driver import allowed_paths, images_at

PARAMS = {"host": "gluster1", "port": 24007, "volume": "gv0", "access": "kernelspace"}
SOURCE = "gluster1:/gv0"


@define
class GlusterMachine:
    """What is mounted, by directory, as (type, source); directories that are busy cannot be unmounted,
    and the processes of those that are dead have ended."""

    root: Path
    mounted: dict[str, tuple[str, str]] = field(factory=dict)
    busy: set[str] = field(factory=set)
    dead: set[str] = field(factory=set)
    runner: FakeProcessRunner = field(factory=FakeProcessRunner)
    allowed: AllowedPaths = field(init=False)
    directory: Path = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.directory = self.root / "srv/gluster"
        self.allowed = allowed_paths(self.root, self.directory)
        for place in (*PLACES, self.allowed.paths.run_dir):
            self.files.mkdir(Path(place))
        put(self.files, Path(PLACES[0]) / PROGRAM, b"")
        self.runner.script(["mount"], self.mount)
        self.runner.script(["umount"], self.unmount)

    @property
    def files(self) -> MemoryFiles:
        """Those of the node, but for what is on volumes."""
        assert isinstance(self.allowed.files, MemoryFiles)
        return self.allowed.files

    @property
    def commands(self) -> list[str]:
        """What was mounted and unmounted until now."""
        return [" ".join(command).replace(str(self.directory), "DIR") for command in self.runner.commands]

    def table(self) -> str:
        """As the kernel tells it, with a root and an optional field as it has them."""
        lines = ["21 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw"]
        for number, (directory, (kind, source)) in enumerate(self.mounted.items()):
            escaped = directory.replace(" ", r"\040")
            lines.append(f"{40 + number} 21 0:{number} / {escaped} rw,relatime shared:{number} - {kind} {source} rw")
        return "\n".join(lines) + "\n"

    def mount(self, call: Call) -> ProcessResult:
        """As mount(8) does it."""
        source, directory = call.argv[-2:]
        self.mounted[directory] = ("fuse.glusterfs", source)
        return ProcessResult()

    def unmount(self, call: Call) -> ProcessResult:
        """As umount(8) does it."""
        directory = call.argv[-1]
        if directory in self.busy and "--lazy" not in call.argv:
            return ProcessResult(status=32, stderr=f"umount: {directory}: target is busy.".encode())
        del self.mounted[directory]
        self.dead.discard(directory)
        return ProcessResult()

    def mounts(self) -> GlusterMounts:
        """As a node daemon has them that was started now."""
        records = MountRecords(self.files, self.allowed.paths.gluster_mounts_dir)
        return GlusterMounts(self.allowed, records, self.runner, InlineThreads(), self.table, self.look)

    def storage(self) -> GlusterStorage:
        """As a node daemon has it that was started now."""
        images = images_at(self.allowed.paths.run_dir / "views")
        files = FileStorage("gluster", self.allowed, InlineThreads(), images, keeps_directories=True)
        return GlusterStorage("gluster", files, self.mounts())

    def look(self, directory: Path) -> int | None:
        """See `GlusterMounts`."""
        return errno.ENOTCONN if str(directory) in self.dead else None
