"""How instances in a chroot end: by their script, by signals; and what is removed then."""

import signal

from attrs import frozen
from twisted.internet.interfaces import IReactorTime

from ganeti_tx.errors import HypervisorError
from ganeti_tx.node.hypervisor.chroot.init_script import InitScripts
from ganeti_tx.node.hypervisor.chroot.layout import ChrootLayout
from ganeti_tx.node.hypervisor.chroot.own import OwnChroots
from ganeti_tx.node.hypervisor.chroot.processes import Inhabitants
from ganeti_tx.node.hypervisor.chroot.roots import Roots
from ganeti_tx.node.hypervisor.names import naming
from ganeti_tx.runtime.files import IFiles

#: Seconds that processes have to end by themselves when they are told to, and until killed ones are gone.
TERM_LIMIT = 2.0
KILL_LIMIT = 30.0


@frozen
class ChrootEnding:
    """Ends them."""

    files: IFiles
    clock: IReactorTime
    scripts: InitScripts
    processes: Inhabitants
    own: OwnChroots
    roots: Roots

    async def stop(self, instance_name: str, timeout: float, force: bool = False) -> str | None:
        """See `IHypervisor`."""
        layout = self.own.layout(instance_name)
        if not self.files.exists(layout.directory):
            return None
        with naming(instance_name):
            why = None
            if not force and timeout > 0 and await self.processes.of(layout.root):
                why = await self._ask_to_end(layout, timeout)
            await self.end(layout, force)
        return why and f"instance {instance_name} was ended by signals: {why}"

    async def _ask_to_end(self, layout: ChrootLayout, timeout: float) -> str | None:
        """By its script, which has done so when no process is left; else why that is not so. One that fails is not waited for."""
        deadline = self.clock.seconds() + timeout
        try:
            record = self.own.record(layout)
            if record is None:
                return f"{layout.record} is missing, so its script could not be asked"
            said_before = self.scripts.length(layout)
            await self.scripts.stop(layout, record, timeout)
            left = await self.processes.when_none(layout.root, deadline - self.clock.seconds())
        except HypervisorError as error:
            return str(error)
        if not left:
            return None
        said = self.scripts.said_since(layout, said_before)
        return f"'{record.init_script} stop' has ended well, but after {timeout:g} s {len(left)} of its processes still ran{said}"

    async def end(self, layout: ChrootLayout, force: bool) -> None:
        """Its processes, its mounts, its files. @raise HypervisorError: something is left."""
        layout.check_own(self.files)
        if not force:
            await self.processes.when_none(layout.root, TERM_LIMIT, signal.SIGTERM)
        if left := await self.processes.when_none(layout.root, KILL_LIMIT, signal.SIGKILL):
            raise HypervisorError(
                f"instance {layout.name}: these processes of it cannot be killed: {', '.join(map(str, left))}; 'dmesg' may tell"
                " what they wait for, if nothing helps a reboot of the node ends them, and then"
                f" 'gnt-instance shutdown {layout.name}' removes the rest"
            )
        layout.check_own(self.files)
        await self.roots.clear(layout)
