"""Which instances in a chroot are ours: all is found again from the node's run directory and processes, whoever started them."""

from attrs import frozen

from ganeti_tx.errors import HypervisorError
from ganeti_tx.node.hypervisor.chroot.init_script import InitScripts
from ganeti_tx.node.hypervisor.chroot.layout import ChrootLayout, chroot_layout
from ganeti_tx.node.hypervisor.chroot.processes import Inhabitants
from ganeti_tx.node.hypervisor.chroot.record import ChrootRecord
from ganeti_tx.node.hypervisor.instance_record import read
from ganeti_tx.node.hypervisor.interfaces import InstanceInfo, Owner, RunState
from ganeti_tx.node.hypervisor.listing import listed
from ganeti_tx.node.hypervisor.names import naming
from ganeti_tx.node.hypervisor.own_directories import names_in
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths


@frozen
class OwnChroots:
    """Those of this node, by the names of their instances."""

    paths: Paths
    files: IFiles
    scripts: InitScripts
    processes: Inhabitants

    def layout(self, name: str) -> ChrootLayout:
        """@raise HypervisorError: it is no instance name, or somebody else could have said what is to be there."""
        layout = chroot_layout(self.paths, name)
        with naming(name):
            layout.check_own(self.files)
        return layout

    def names(self) -> list[str]:
        """The instances that we remember."""
        return names_in(self.files, self.paths.chroot_run_dir)

    def record(self, layout: ChrootLayout) -> ChrootRecord | None:
        """What is remembered of one. @raise HypervisorError: it cannot be read."""
        layout.check_own(self.files)
        try:
            return read(self.files, layout.record, ChrootRecord)
        except HypervisorError as error:
            raise HypervisorError(
                f"{error}; when it is removed ('rm {layout.record}'), a shutdown ends what is left of the instance by signals"
            ) from None

    async def info(self, instance_name: str) -> InstanceInfo | None:
        """See `IHypervisor`; it runs while it has processes and its script says so."""
        layout = self.layout(instance_name)
        with naming(instance_name):
            record = self.record(layout)
            processes = await self.processes.of(layout.root) if record is not None else []
            if record is None or not processes or not await self.scripts.runs(layout, record):
                return None
            used = await self.processes.cpu_seconds(processes)
            number = self.files.stat(layout.directory).inode  # as long as it runs, no other one has it
            return InstanceInfo(
                *(instance_name, number, record.memory, record.vcpus, RunState.RUNNING, used),
                uuid=record.uuid,
                ended_by=stops(layout, record),
            )

    async def owner(self, instance_name: str, other_than: str = "") -> Owner | None:
        """See `IHypervisor`; whatever its script says, it is there while it has processes."""
        layout = self.layout(instance_name)
        with naming(instance_name):
            record = self.record(layout)
            if record is None or record.uuid in ("", other_than):
                return None
            if not (processes := await self.processes.of(layout.root)):
                return None
            asked = await self._runs(layout, record)
            return Owner(record.uuid, stops(layout, record) if asked else kills(processes))

    async def _runs(self, layout: ChrootLayout, record: ChrootRecord) -> bool:
        """Whether its script says so; one that says something else stops nothing."""
        try:
            return await self.scripts.runs(layout, record)
        except HypervisorError:
            return False

    async def all(self) -> list[InstanceInfo]:
        """See `IHypervisor.list_instances`."""
        return await listed(self.names(), self.info)


def stops(layout: ChrootLayout, record: ChrootRecord) -> str:
    """What ends one that belongs to nobody."""
    return f"chroot {layout.root} {record.init_script} stop"


def kills(processes: list[int]) -> str:
    """What ends one whose script would not."""
    return f"kill -KILL {' '.join(map(str, processes))}"
