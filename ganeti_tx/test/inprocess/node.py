"""One simulated node: its files, its disks, its OS definitions and its node daemon."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import cast

import msgspec
from attrs import define, field, frozen
from twisted.internet.defer import Deferred
from twisted.internet.task import deferLater

from ganeti_tx.errors import BlockDeviceError, FileStoragePathError
from ganeti_tx.model.hypervisors.kvm import DEFAULT_PROGRAM
from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.model.migration import Side
from ganeti_tx.model.versions import NODE_PROTOCOL_VERSION, RELEASE_VERSION
from ganeti_tx.node.hypervisor.fake.driver import Running
from ganeti_tx.node.local_daemons import MachineProcesses
from ganeti_tx.node.service import NodeParts, build_dispatch
from ganeti_tx.node.storage.diskless.driver import Diskless
from ganeti_tx.node.storage.ext.driver import ExtStorage
from ganeti_tx.node.storage.ext.driver import register as register_ext
from ganeti_tx.node.storage.file.allowed_paths import AllowedPaths
from ganeti_tx.node.storage.interfaces import IPools
from ganeti_tx.node.storage.kinds import NodeStorage, Register, StorageKind, together
from ganeti_tx.node.storage.rbd.driver import KERNEL_BUS, RbdImages
from ganeti_tx.node.storage.rbd.driver import register as register_rbd
from ganeti_tx.runtime.boot_id import BOOT_ID
from ganeti_tx.runtime.directories import ensure_directories
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.process import ProcessResult
from ganeti_tx.runtime.reactors import IDaemonReactor
from ganeti_tx.runtime.threads import InlineThreads
from ganeti_tx.test.fakes.block_devices import FakeBlockDevices
from ganeti_tx.test.fakes.ceph import PROGRAMS, CephNode
from ganeti_tx.test.fakes.memory_provider import SCRIPTS
from ganeti_tx.test.fakes.metadata_daemon import FakeMetadataDaemon
from ganeti_tx.test.fakes.mirror_node import MirrorNode
from ganeti_tx.test.fakes.mirror_wire import MirrorWire
from ganeti_tx.test.fakes.process import Call, FakeProcessRunner
from ganeti_tx.test.fakes.storage import FakeDisk, FakePools, FakeStorage
from ganeti_tx.test.fakes.transfers import FakeTransferEnds, TransferWire
from ganeti_tx.test.fakes.volume_groups import FakePhysicalVolumes, FakeVolumeGroups
from ganeti_tx.test.inprocess.disk import ProcessFiles, put
from ganeti_tx.test.inprocess.held_files import MemoryLocks, MemoryLog
from ganeti_tx.test.inprocess.network import LATENCY, Listener, Network
from ganeti_tx.test.inprocess.node_keys import keys_of
from ganeti_tx.test.inprocess.power import LosingFiles
from ganeti_tx.test.inprocess.shared_storage import SharedStorage
from ganeti_tx.test.inprocess.simulation import Process, SimulatedTime

OS_NAME = "noop"
#: Seconds that an OS script takes.
SCRIPT_TIME = 2.0
#: The provider of external storage that all nodes have, and the seconds that a script of its takes.
PROVIDER = "shelf"
PROVIDER_TIME = 0.1
#: What QEMU says, where a test has put its program.
QEMU_SAYS = b"QEMU emulator version 7.2.22 (Debian 1:7.2+dfsg-7)\n"
MEMORY = "MemTotal: 8388608 kB\nMemAvailable: 6291456 kB\n"
PROCESSORS = "".join(f"processor : {number}\nphysical id : 0\n\n" for number in range(4))

#: The cluster's own address.
MASTER_IP = "192.0.2.100"


@define(eq=False)
class SimulatedNode:
    """A machine that stays; its daemon may come and go. `shared` are the disks of templates that all nodes reach.

    With a `mirror_wire` it has volumes, and mirrors to other nodes on that wire.
    """

    name: str
    address: str
    network: Network
    new_process: Callable[[str], Process]
    shared: SharedStorage
    clock: SimulatedTime
    disk: LosingFiles
    transfer_wire: TransferWire
    mirror_wire: MirrorWire | None = None
    mirror_node: MirrorNode | None = field(init=False)
    ceph_node: CephNode = field(init=False)
    paths: Paths = field(factory=Paths)
    volume_groups: FakeVolumeGroups = field(init=False)
    storage: NodeStorage = field(init=False)
    transfers: FakeTransferEnds = field(init=False)
    files_storage: FakeStorage = field(init=False)
    scripts: FakeProcessRunner = field(init=False)
    daemon: Process | None = None
    clock_error: float = 0.0
    versions: tuple[int, str] = (NODE_PROTOCOL_VERSION, RELEASE_VERSION)
    #: The ids of the daemons' users; without them all its files are one user's.
    users: Mapping[str, int] | None = None
    boots: int = 0
    processes: MachineProcesses = field(factory=MachineProcesses)
    metadata: FakeMetadataDaemon = field(factory=FakeMetadataDaemon)
    services: Callable[[Process, Call], "Deferred[ProcessResult]"] | None = None
    #: Real drivers in the place of storages in memory, from the next start of its daemon on.
    drivers: Sequence[Register] = ()

    def __attrs_post_init__(self) -> None:
        ensure_directories(self.paths, self.disk)
        self.ceph_node = CephNode(self.shared.ceph)
        self.disk.mkdir(KERNEL_BUS)
        self.files_storage = FakeStorage("file", fault=self._not_allowed)
        self.transfers = FakeTransferEnds(self.name, self.transfer_wire, self._behind, self.clock)
        self.transfers.files = self.disk
        shared = FakeStorage(
            "sharedfile", self.shared.files, fault=self._not_allowed, devices=self.files_storage.devices
        )
        self.mirror_node = (
            None if self.mirror_wire is None else MirrorNode(self.address, self.mirror_wire, self.files_storage)
        )
        gluster = FakeStorage(
            "gluster", self.shared.gluster, fault=self._not_allowed, devices=self.files_storage.devices
        )
        upon = () if self.mirror_node is None else (self.mirror_node.volumes, self.mirror_node.mirrors)
        of_files = {"file": self.files_storage, "sharedfile": shared, "gluster": gluster}
        pools: dict[str, IPools] = {word: FakePools(storage) for word, storage in of_files.items()}
        if self.mirror_node is not None:
            self.volume_groups = FakeVolumeGroups(self.mirror_node.volumes)
            pools.update({"lvm-vg": self.volume_groups, "lvm-pv": FakePhysicalVolumes(self.volume_groups)})
        devices = FakeBlockDevices(disks=self.shared.devices, devices=self.files_storage.devices)
        self.storage = together([StorageKind([Diskless(), *of_files.values(), devices, *upon], pools)])
        put(self.disk, Path("/proc/meminfo"), MEMORY.encode())
        self._be_booted()
        put(self.disk, Path("/proc/cpuinfo"), PROCESSORS.encode())
        put(
            self.disk,
            self.paths.file_storage_paths_file,
            b"/srv/ganeti/file-storage\n/srv/ganeti/shared-file-storage\n/var/run/ganeti/gluster\n",
        )
        self.disk.mkdir(Path("/sys/class/net/xen-br0/bridge"))
        self.add_os(OS_NAME)
        self.add_provider()

    def _behind(self, path: str) -> FakeDisk | None:
        """What is behind the path of a device that is ready."""
        volume = self.shared.external.volumes.get(path.removeprefix("/dev/ext/"))
        mirrored = None if self.mirror_node is None else self.mirror_node.mirrors.behind(path)
        image = self.ceph_node.behind(path)
        return volume or mirrored or image or self.files_storage.devices.behind.get(path)

    def _not_allowed(self, operation: str, disk: DiskSpec) -> BlockDeviceError | None:
        try:
            AllowedPaths(self.disk, self.paths).check(str((disk.logical_id or [""])[-1]))
        except FileStoragePathError as error:
            return BlockDeviceError(str(error))
        return None

    def add_os(self, name: str) -> None:
        """Install an OS definition."""
        directory = self.paths.os_search_path[0] / name
        put(self.disk, directory / "ganeti_api_version", b"20\n")
        put(self.disk, directory / "parameters.list", b"flavour what it tastes of\n")
        put(self.disk, directory / "variants.list", b"")
        for script in ("create", "export", "import", "rename", "verify"):
            put(self.disk, directory / script, b"#!/bin/sh\n", 0o755)

    def add_provider(self, name: str = PROVIDER, parameters: bytes = b"colour what it looks like\n") -> Path:
        """Install a provider of external storage; where it is."""
        directory = self.paths.extstorage_search_path[0] / name
        put(self.disk, directory / "parameters.list", parameters)
        for script in SCRIPTS:
            put(self.disk, directory / script, b"#!/bin/sh\n", 0o755)
        return directory

    def join(self, ssconf: dict[str, str]) -> None:
        """Take in what makes the node one of the cluster's, as `ganeti-bootstrap join` does, and start its daemon."""
        keys = keys_of(self.name, self.address)
        put(self.disk, self.paths.client_pem, keys.client.bundle, 0o440)
        put(self.disk, self.paths.authority_pem, keys.authority, 0o444)
        put(self.disk, self.paths.server_pem, keys.server.bundle, 0o440)
        for key, value in ssconf.items():
            put(self.disk, self.paths.ssconf_file(key), f"{value}\n".encode() if value else b"", 0o444)
        self.start()

    def unjoin(self) -> None:
        """Take that back, as `ganeti-bootstrap leave` does."""
        self.stop()
        for path in (self.paths.client_pem, self.paths.authority_pem, self.paths.server_pem):
            self.disk.remove(path)

    def start(self) -> None:
        """Start the node daemon."""
        process = self.daemon = self.new_process(f"noded-{self.name}")
        self.scripts = FakeProcessRunner(process.time)
        self.scripts.script([], lambda call: self._script_ends(process, call))
        for script in SCRIPTS:
            path = self.paths.extstorage_search_path[0] / PROVIDER / script
            self.scripts.script([str(path)], lambda call: self._provider_ends(process, call))
        for program in PROGRAMS:
            self.scripts.script([program], lambda call: self._ceph_ends(process, call))
        self.scripts.script([DEFAULT_PROGRAM, "--version"], ProcessResult(stdout=QEMU_SAYS))
        if (services := self.services) is not None:
            self.scripts.script(["systemctl"], lambda call: services(process, call))
        parts = NodeParts(
            name=self.name,
            paths=self.paths,
            files=ProcessFiles(self.disk, process),
            threads=InlineThreads(),
            runner=self.scripts,
            clock=process,
            reactor=cast(IDaemonReactor, process),
            now=self.now,
            owns_address=lambda address: address in (self.address, MASTER_IP),  # whoever is asked for the latter has it
            reaches=self._reaches,
            versions=self.versions,
            users=lambda: self.users,
            leave=self.stop,
            processes=self.processes,
            open_log=lambda directory, name: MemoryLog(directory / f"{name}.log"),
            hold=MemoryLocks().hold,
            machine=SimulatedReset(self),
            metadata=self.metadata,
        )
        real = together(register(parts) for register in (register_ext, register_rbd, *self.drivers))
        for each in real.storages.values():
            if isinstance(each, ExtStorage):
                each.look = self.shared.external.look
            if isinstance(each, RbdImages):
                each.look = self.ceph_node.look
        storage = NodeStorage({**self.storage.storages, **real.storages}, {**self.storage.pools, **real.pools})
        self.network.listen(self.address, Listener(process, build_dispatch(parts, storage, self.transfers)))

    async def _reaches(self, address: str) -> bool:
        return self.network.is_up(address) and self.network.is_up(self.address)

    def _script_ends(self, process: Process, call: Call) -> "Deferred[ProcessResult]":
        return deferLater(process, SCRIPT_TIME, ProcessResult)

    def _provider_ends(self, process: Process, call: Call) -> "Deferred[ProcessResult]":
        result = self.shared.external.run(call)
        return deferLater(process, PROVIDER_TIME, lambda: result)

    def _ceph_ends(self, process: Process, call: Call) -> "Deferred[ProcessResult]":
        result = self.ceph_node.run(call)
        return deferLater(process, PROVIDER_TIME, lambda: result)

    def now(self) -> float:
        """What the machine's own clock says, in seconds since the epoch."""
        return self.clock.seconds() + self.clock_error

    def stop(self) -> None:
        """End the node daemon, as a kill does."""
        if self.daemon is not None:
            self.daemon.die()
            self.network.stop(self.address, LATENCY)
            self.daemon = None

    def lose_power(self, chance: Random) -> None:
        """All that ran here is gone, nobody is told, and of the files what had not reached the disk."""
        if self.daemon is not None:
            self.daemon.die()
            self.daemon = None
        self.network.fall_silent(self.address)
        self.disk.lose_power(chance)
        if self.mirror_node is not None:
            self.mirror_node.lose_power()
        self.files_storage.devices.lose_power()
        self.transfers.lose_power()
        self.ceph_node.mapped.clear()
        for disk in self.files_storage.disks.values():
            disk.assembled = False

    def boot(self) -> None:
        """Come up again, and start the node daemon."""
        self.network.silent.discard(self.address)
        ensure_directories(self.paths, self.disk)
        self._be_booted()
        self.start()

    def reset(self) -> None:
        """As the button does."""
        self.lose_power(Random(self.boots))
        self.boot()

    def _be_booted(self) -> None:
        self.boots += 1
        put(self.disk, BOOT_ID, f"{self.name}-{self.boots}\n".encode())

    def running(self) -> list[str]:
        """The instances that run here; what a migration has left does not."""
        directory = self.paths.run_dir / "fake-hypervisor"
        names = self.disk.listdir(directory) if self.disk.exists(directory) else []
        return [name for name in names if self.side(name) in (Side.RUNS, Side.SENDING)]

    def side(self, name: str) -> Side | None:
        """What is here of an instance."""
        there = self._machine(name)
        return None if there is None else there.side

    def stands_still(self, name: str) -> bool:
        """Whether the file systems of a guest do."""
        there = self._machine(name)
        return there is not None and there.frozen

    def _machine(self, name: str) -> Running | None:
        path = self.paths.run_dir / "fake-hypervisor" / name
        if not self.disk.exists(path):
            return None
        return msgspec.json.decode(self.disk.read(path, 1 << 20), type=Running)

    def own_disks(self) -> set[str]:
        """The files and volumes here."""
        return self.files_storage.disks.keys() | (self.mirror_node.volumes.disks.keys() if self.mirror_node else set())

    def disk_full(self) -> None:
        """From now on there is no room for another disk."""
        self.files_storage.total = 0


@frozen
class SimulatedReset:
    """That of a simulated node; not from within its daemon, which does not survive it."""

    node: SimulatedNode

    def obstacle(self) -> str:
        """None."""
        return ""

    def reset(self) -> None:
        """As soon as nothing else is done."""
        self.node.clock.callLater(0, self.node.reset)
