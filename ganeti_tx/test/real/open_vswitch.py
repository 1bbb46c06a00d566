"""An Open vSwitch that needs no module of the kernel, in a namespace and a directory of its own."""

from pathlib import Path
from shutil import which

from attrs import define, field
from twisted.internet.defer import Deferred
from twisted.trial.unittest import SkipTest

from ganeti_tx.runtime.process import ProcessResult
from ganeti_tx.test.real.namespaces import NamespaceRunner

SCHEMA = Path("/usr/share/openvswitch/vswitch.ovsschema")
PROGRAMS = ("ovs-vsctl", "ovs-vswitchd", "ovsdb-server", "ovsdb-tool")
#: Seconds that a daemon of it may run.
LIMIT = 120.0


def check_installed() -> None:
    """@raise SkipTest: it is not."""
    missing = [name for name in PROGRAMS if which(name) is None]
    if missing or not SCHEMA.exists():
        raise SkipTest(f"{missing or SCHEMA} not found; install openvswitch-switch")


@define
class OpenVSwitch:
    """It is up as soon as it is made, and down after `end`. Whatever the runner starts afterwards speaks to it."""

    runner: NamespaceRunner
    directory: Path
    _daemons: list[Deferred[ProcessResult]] = field(factory=list, init=False)

    async def begin(self) -> None:
        """Have an empty one."""
        check_installed()
        place = self.directory
        self.runner.more = {name: str(place) for name in ("OVS_RUNDIR", "OVS_LOGDIR", "OVS_DBDIR")}
        await self.runner.does(f"ovsdb-tool create {place}/conf.db {SCHEMA}")
        self._start(f"ovsdb-server {place}/conf.db --remote=punix:{place}/db.sock")
        await self.runner.does("ovs-vsctl --retry --timeout=60 --no-wait init")
        self._start(f"ovs-vswitchd unix:{place}/db.sock")

    def _start(self, line: str) -> None:
        self._daemons.append(self.runner.run([*line.split(), "--log-file", "--pidfile"], timeout=LIMIT))

    async def new_switch(self, name: str) -> None:
        """One whose packets this program itself passes on."""
        await self.runner.does(f"ovs-vsctl --timeout=30 add-br {name} -- set bridge {name} datapath_type=netdev")

    async def end(self) -> None:
        """Have none."""
        for daemon in ("ovs-vswitchd", "ovsdb-server"):
            if (self.directory / f"{daemon}.pid").exists():
                await self.runner.run(["ovs-appctl", "--timeout=10", "-t", daemon, "exit"])
        for ending in self._daemons:
            await ending
