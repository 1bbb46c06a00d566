"""What Xen's own programs ask a script for when an interface of a domain comes or goes (xl-network-configuration(5))."""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from attrs import frozen

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.enums import NicMode
from ganeti_tx.node.hypervisor.nics.bridges import COMMAND_TIMEOUT
from ganeti_tx.node.hypervisor.nics.node_ends import STOP, NodeEnds
from ganeti_tx.node.hypervisor.nics.script_environment import NodeEnd
from ganeti_tx.node.hypervisor.own_directories import check_directories
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.process import IProcessRunner

#: The words for an interface that comes: the domain's own one, and that of the machine that emulates devices for it.
COMES, GOES = ("online", "add"), ("offline", "remove")
EMULATED = "type_if=tap"
LIMIT = 1 << 16
#: Behind the name of a domain that is on its way from another node, and of one that was sent there.
INCOMING, SENT = "--incoming", "--migratedaway"
#: A domain, and an interface of it, at the end of a place in Xen's store.
_PLACE = re.compile(r"/(\d+)/(\d+)\Z", re.ASCII)


@frozen
class Vif:
    """One interface of a domain, by where Xen's store has it.

    @ivar domain: the domain's number.
    @ivar number: its place among those of the instance.
    """

    path: str
    domain: str
    number: str
    interface: str
    is_emulated: bool

    @classmethod
    def told(cls, words: Sequence[str], environment: Mapping[str, str]) -> "Vif":
        """@raise HypervisorError: it was not Xen that asked."""
        emulated = EMULATED in words
        path, name = environment.get("XENBUS_PATH", ""), environment.get("INTERFACE" if emulated else "vif", "")
        if (place := _PLACE.search(path)) is None or not name:
            raise HypervisorError("XENBUS_PATH and vif are not set as Xen sets them; Xen itself runs this")
        return cls(path, place[1], place[2], name, emulated)


@frozen
class XenVifs:
    """Connects and disconnects them as the files say that the driver has written."""

    files: IFiles
    paths: Paths
    runner: IProcessRunner
    ends: NodeEnds

    async def comes(self, vif: Vif) -> None:
        """Connect it, and let Xen go on. @raise HypervisorError: it is not connected; Xen is told."""
        try:
            await self.ends.connect(await self._end(vif))
        except HypervisorError as error:
            with suppress(HypervisorError):  # what cannot be told is in the log of the domain all the same
                await self._write(vif, "hotplug-error", str(error))
                await self._write(vif, "hotplug-status", "error")
            raise
        if not vif.is_emulated:
            await self._write(vif, "hotplug-status", "connected")

    async def goes(self, vif: Vif) -> None:
        """Leave nothing of it. @raise HypervisorError: something is left."""
        await self.ends.disconnect(await self._end(vif), STOP)

    async def _end(self, vif: Vif) -> NodeEnd:
        shown = await self._xenstore("read", f"/local/domain/{vif.domain}/name")
        name = shown.removesuffix(INCOMING).removesuffix(SENT)
        text = self.files.read(self._facts(name, vif.number), LIMIT).decode("utf-8", "replace")
        told = {key: value for key, found, value in (line.partition("=") for line in text.splitlines()) if found}
        if told.get("MODE") == NicMode.ROUTED:
            told["LINK"] = ""  # which is the main table here (Ganeti 3.0 network table, stock_actions)
        return NodeEnd({**told, "INTERFACE": vif.interface})

    def _facts(self, name: str, number: str) -> Path:
        """Of both kinds of domains. @raise HypervisorError: there are none."""
        top = self.paths.xen_run_dir
        check_directories(self.files, [top])
        kinds = self.files.listdir(top) if self.files.exists(top) else []
        found = [top / kind / name / "nics" / number for kind in kinds if name and "/" not in name]
        path = next((each for each in found if self.files.exists(each)), None)
        if path is None:
            raise HypervisorError(f"interface {number} of domain {name!r} is none of an instance on this node")
        check_directories(self.files, (path.parents[2], path.parents[1], path.parent))
        return path

    async def _write(self, vif: Vif, key: str, value: str) -> None:
        await self._xenstore("write", f"{vif.path}/{key}", value)

    async def _xenstore(self, verb: str, *words: str) -> str:
        result = await self.runner.run([f"xenstore-{verb}", *words], timeout=COMMAND_TIMEOUT)
        if not result.succeeded:
            raise HypervisorError(f"xenstore-{verb} {words[0]}: {result.describe()}")
        return result.stdout.decode("utf-8", "replace").strip()
