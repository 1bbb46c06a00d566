"""A provider of external storage in memory: what its scripts do, for nodes that reach the same volumes."""

from attrs import define, field

from ganeti_tx.node.storage.device import Device
from ganeti_tx.runtime.process import ProcessResult
from ganeti_tx.test.fakes.devices import FakeDisk
from ganeti_tx.test.fakes.process import Call

SCRIPTS = ("attach", "close", "create", "detach", "grow", "open", "remove", "setinfo", "snapshot", "verify")


@define
class MemoryProvider:
    """Volumes by provider and name. `ran` are the scripts that were run, and those in `broken` fail.

    @ivar removes_twice: whether a volume that is not there can be removed. @ivar stuck: volumes that cannot be removed.
    """

    volumes: dict[str, FakeDisk] = field(factory=dict)
    ran: list[tuple[str, str]] = field(factory=list)
    broken: set[str] = field(factory=set)
    removes_twice: bool = True
    stuck: set[str] = field(factory=set)

    def run(self, call: Call) -> ProcessResult:
        """What becomes of a script."""
        *_, provider, script = call.argv[0].split("/")
        name = f"{provider}/{call.env['VOL_NAME']}"
        self.ran.append((script, name))
        if script in self.broken or (script == "remove" and name in self.stuck):
            return ProcessResult(status=3)
        if script == "create":
            return self._create(name, int(call.env["VOL_SIZE"]))
        if name not in self.volumes:
            return ProcessResult(status=0 if script == "remove" and self.removes_twice else 1)
        volume = self.volumes[name]
        if script == "remove":
            del self.volumes[name]
        elif script == "grow":
            volume.size = int(call.env["VOL_NEW_SIZE"])
        elif script == "setinfo":
            volume.owner = call.env["VOL_METADATA"]
        elif script == "snapshot":
            return self._create(f"{provider}/{call.env['VOL_SNAPSHOT_NAME']}", volume.size)
        return ProcessResult(stdout=f"/dev/ext/{name}\n".encode() if script == "attach" else b"")

    def look(self, path: str) -> Device | None:
        """As `node/storage/device.py` does."""
        volume = self.volumes.get(path.removeprefix("/dev/ext/"))
        return None if volume is None else Device(volume.size, (250, 0))

    def _create(self, name: str, size: int) -> ProcessResult:
        if name in self.volumes:
            return ProcessResult(status=1)
        self.volumes[name] = FakeDisk(size)
        return ProcessResult()
