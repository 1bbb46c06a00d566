"""Every operation on instances with QEMU, on each template that nodes of one machine can have; doc/operations.rst says the same."""

import socket
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from shutil import rmtree

from twisted.trial.unittest import SkipTest, SynchronousTestCase

from ganeti_tx.devcluster import quickstart
from ganeti_tx.model.disk_templates import TEMPLATES
from ganeti_tx.model.enums import DiskTemplate
from ganeti_tx.node.hypervisor.kvm.layout import instance_layout
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.root_processes import processes_of
from ganeti_tx.test.contracts.cluster import Scene
from ganeti_tx.test.contracts.operation_cells import Column, cells_of
from ganeti_tx.test.contracts.operations import ROWS
from ganeti_tx.test.contracts.operations_page import check, section
from ganeti_tx.test.fakes.loop_devices import attach, attached_to, detach, need_loop_devices
from ganeti_tx.test.fakes.provider import write_provider
from ganeti_tx.test.real.command_line import command_line
from ganeti_tx.test.real.devcluster import DevClusterUnderTest, commands_are_installed
from ganeti_tx.test.real.own_file_storage import file_storage, have_own_file_storage
from ganeti_tx.test.real.test_kvm_migration import free_port

#: In the order of the page; the lab has machines with the others.
COLUMNS = (
    DiskTemplate.FILE,
    DiskTemplate.SHAREDFILE,
    DiskTemplate.DISKLESS,
    DiskTemplate.BLOCKDEV,
    DiskTemplate.EXT,
)
#: Templates that need more of a kernel than the nodes of one machine have, or servers that not every machine has.
ELSEWHERE = {DiskTemplate.PLAIN, DiskTemplate.DRBD, DiskTemplate.RBD, DiskTemplate.GLUSTER}
ALL = ",".join(COLUMNS)
NODES = 4
OS = "noop"
OS_DEFINITION = Path("/usr/share/ganeti/os/noop")
HAIL = Path("/usr/lib/ganeti/iallocators/hail")
#: MiB of a disk.
SIZE = 8
LIMITS = "min:cpu-count=1,disk-count=0,disk-size=1,memory-size=64,nic-count=0,spindle-use=1"
LIMITS += "/max:cpu-count=8,disk-count=16,disk-size=1048576,memory-size=32768,nic-count=8,spindle-use=12"
SETTINGS = (
    f"gnt-cluster modify --ipolicy-disk-templates {ALL} --ipolicy-bounds-specs {LIMITS}",
    "gnt-cluster modify -I hail --default-iallocator-params no-capacity-checks",
    "gnt-group add rack2",
    "gnt-group assign-nodes rack2 node4",
)
#: QEMU needs no guest but where a row says so: without a kernel, and with nothing on its disks, it waits.
HYPERVISOR = "kvm:kernel_path=,kernel_args=console=ttyS0 quiet,root_path=/dev/vda,vnc_bind_address="
HYPERVISOR += ",serial_console=true,kvm_flag=disabled,migration_bandwidth=500,migration_port={port}"
#: Seconds until a guest with Linux has its shell, and of silence after which it is asked.
BOOT_LIMIT = 120.0
SILENCE = 1.0


def wait_for_shell(console: socket.socket) -> None:
    """Until the guest has loaded its drivers. @raise AssertionError: it has not in time."""
    console.settimeout(SILENCE)
    deadline = time.monotonic() + BOOT_LIMIT
    said = b""
    while b"/ # " not in said:
        assert time.monotonic() < deadline, f"the guest has no shell; it said {said!r}"
        try:
            data = console.recv(4096)
        except TimeoutError:
            console.sendall(b"\n")
            continue
        assert data, f"the machine has ended; it said {said!r}"
        said += data


class ColumnTests(SynchronousTestCase):
    """What the table has."""

    def test_none_is_left_out(self) -> None:
        """A new template needs a column."""
        self.assertEqual({each for each in TEMPLATES if TEMPLATES[each].available} - set(COLUMNS) - ELSEWHERE, set())


class KvmOperationsTests(SynchronousTestCase):
    """Four nodes, of which one is another group, each with a directory of files of its own."""

    timeout = 900

    def setUp(self) -> None:
        if not commands_are_installed():
            raise SkipTest("the commands are not installed beside this Python (pip install -e .)")
        for needed, package in ((HAIL, "ganeti-htools"), (OS_DEFINITION, "ganeti-os-noop")):
            if not needed.exists():
                raise SkipTest(f"there is no {needed}; 'apt-get install {package}' brings it")
        need_loop_devices()
        if not quickstart.have_qemu() or not quickstart.make_guest():
            raise SkipTest("QEMU, or a guest with Linux for it, cannot be had")
        self.directory = Path(tempfile.mkdtemp(prefix="gtx", dir="/tmp"))
        self.addCleanup(rmtree, self.directory)
        hypervisor = HYPERVISOR.format(port=free_port())
        settings = ("--enabled-hypervisors=kvm", f"--enabled-disk-templates={ALL}", "-H", hypervisor)
        self.cluster = DevClusterUnderTest(settings, NODES)
        self.addCleanup(self.cluster.close)
        self.layout = self.cluster.layout
        have_own_file_storage(self.layout)
        self.furnish()

    def furnish(self) -> None:
        """What an administrator brings: the operating system, the allocator, a provider of volumes, and devices."""
        self.volumes = self.directory / "volumes"
        self.addCleanup(self.detach_all)
        for node in self.layout.nodes:
            (node.root / "srv/ganeti/os" / OS).symlink_to(OS_DEFINITION)
            write_provider(node.root / "srv/ganeti/extstorage/shelf", self.volumes, loop=True)
        place = Paths(self.layout.master.root).iallocator_search_path[0]
        place.mkdir(parents=True, exist_ok=True)
        (place / "hail").symlink_to(HAIL)
        self.devices = [self.device(number) for number in range(2)]
        for line in SETTINGS:
            self.cluster.ok(line)

    def detach_all(self) -> None:
        """Let no device of a volume stay."""
        for device in [each for volume in self.volumes.glob("*.disk*") for each in attached_to(volume)]:
            detach(device)

    def device(self, number: int) -> Path:
        """One that an instance can adopt."""
        device = attach(self.directory / f"lun{number}", SIZE)
        self.addCleanup(detach, device)
        path = Path("/dev/disk") / f"by-{self.directory.name}" / f"lun{number}"
        if number == 0:
            path.parent.mkdir(parents=True)
            self.addCleanup(path.parent.rmdir)
        path.symlink_to(device)
        self.addCleanup(path.unlink)
        return path

    def column(self, template: DiskTemplate) -> Column:
        """One of the table, for an instance of its own."""
        name = f"on-{template}.example.com"
        scene = Scene(self.cluster.run, [node.name for node in self.layout.nodes], OS)
        disk, new_disk = self.disks(template)
        column = Column(
            scene,
            template,
            name,
            "kvm",
            disk,
            new_disk,
            self.directory / f"{template}.json",
            lambda: self.lose(name),
            machines=lambda: self.cluster.machines(name),
            boot=lambda: self.boot(name),
            chained=True,
        )
        column.write_batch()
        return column

    def disks(self, template: DiskTemplate) -> Sequence[Mapping[str, str]]:
        """What is said of a disk, and of another one."""
        if template is DiskTemplate.BLOCKDEV:
            return [{"adopt": str(device)} for device in self.devices]
        provider = {"provider": "shelf"} if template is DiskTemplate.EXT else {}
        return ({"size": f"{SIZE}M", **provider},) * 2

    def lose(self, name: str) -> None:
        """The instance's disks are gone from every node."""
        for directory in (*map(file_storage, self.layout.nodes), self.layout.root / "shared"):
            for path in directory.rglob(f"{name}/*"):
                path.unlink()
        for volume in self.volumes.iterdir():
            owner = volume.with_name(f"{volume.name}.owner")
            if owner.exists() and name in owner.read_text():
                for device in attached_to(volume):  # a device that is there would keep what has no name any more
                    detach(device)
                volume.unlink()

    def boot(self, name: str) -> None:
        """Have the guest be a Linux that is up."""
        files = f"kernel_path={quickstart.kernel()},initrd_path={quickstart.GUEST_DIRECTORY / 'initrd.img'}"
        self.cluster.ok(f"gnt-instance modify -H {files} {name}")
        self.cluster.ok(f"gnt-instance reboot -t full --shutdown-timeout 0 {name}")
        with socket.socket(socket.AF_UNIX) as console:
            console.connect(str(instance_layout(Paths(self.layout.nodes[1].root), name).serial))
            wait_for_shell(console)

    def test_table(self) -> None:
        """Each is done, or refused as the template declares, and nothing is left in the end."""
        columns = [self.column(template) for template in COLUMNS]
        cells = cells_of(columns, ROWS)
        self.assertEqual(list(self.left()), [])
        self.cluster.ok("gnt-cluster verify")
        check(section("With QEMU", ROWS, COLUMNS, cells), Path("operations-kvm.rst"))

    def left(self) -> Iterator[str]:
        """What instances have left."""
        for directory in (*map(file_storage, self.layout.nodes), self.layout.root / "shared"):
            yield from (str(path) for path in directory.rglob("*.example.com*"))
        yield from (path.name for path in self.volumes.iterdir() if path.name != "told")
        for process in processes_of(self.layout.root):
            if b"-pidfile" in command_line(process):
                yield f"process {process}"
