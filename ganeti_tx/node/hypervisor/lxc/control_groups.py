"""The control groups that containers need."""

from collections.abc import Sequence
from pathlib import Path

from attrs import frozen

from ganeti_tx.errors import HypervisorError
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.process import IProcessRunner

TOP = Path("/sys/fs/cgroup")
#: There only where the second version is mounted at the top, and then controllers need not be mounted.
CONTROLLERS = TOP / "cgroup.controllers"
#: Without these a container has no limits (reference: hypervisor-parameters.json, extra_cgroups).
ALWAYS = ("cpuset", "memory", "devices", "cpuacct")
COMMAND_TIMEOUT = 30.0
#: Where the kernel names its controllers, of the first version.
KNOWN = Path("/proc/cgroups")
LIMIT = 64 << 10


@frozen
class ControlGroups:
    """Of this node."""

    files: IFiles
    runner: IProcessRunner

    @property
    def unified(self) -> bool:
        """Whether the node has the second version."""
        return self.files.exists(CONTROLLERS)

    def unknown(self, names: Sequence[str]) -> list[str]:
        """Those that the kernel does not have, where it tells; what has the second version mounts none."""
        try:
            lines = [] if self.unified else self.files.read(KNOWN, LIMIT).decode("ascii", "replace").splitlines()
        except OSError:
            return []
        known = [line.split()[0] for line in lines if line.strip() and not line.startswith("#")]
        return [
            f"extra_cgroups: {name!r} is not known to this node's kernel; known are {', '.join(known)}"
            for name in names
            if known and name not in known
        ]

    async def mount(self, extra: Sequence[str]) -> None:
        """Those that are needed, with these. @raise HypervisorError: one cannot be mounted."""
        if self.unified:
            return
        for name in (*ALWAYS, *extra):
            if self.files.exists(TOP / name / "tasks"):
                continue
            self.files.mkdir(TOP / name)
            argv = ["mount", "-t", "cgroup", "-o", name, "cgroup", str(TOP / name)]
            result = await self.runner.run(argv, timeout=COMMAND_TIMEOUT)
            if not result.succeeded:
                raise HypervisorError(f"cannot mount the control group {name}: {result.describe()}")
