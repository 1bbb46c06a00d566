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


@frozen
class ControlGroups:
    """Of this node."""

    files: IFiles
    runner: IProcessRunner

    @property
    def unified(self) -> bool:
        """Whether the node has the second version."""
        return self.files.exists(CONTROLLERS)

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
