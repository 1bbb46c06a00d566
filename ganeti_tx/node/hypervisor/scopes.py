"""Scopes of systemd: what is in one ends when it has ended, and not with the unit of the daemon that has started it.

Whoever kills the node daemon's unit, as 'systemctl kill' does, kills all processes in it, instances among them.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from attrs import frozen

from ganeti_tx.node.hypervisor.names import checked_name
from ganeti_tx.runtime.daemon_names import NODE

SYSTEMD = Path("/run/systemd/system")
#: Which control groups this process is in, a line for each hierarchy.
OWN_GROUPS = Path("/proc/self/cgroup")
#: Below this are those of all instances of this node.
SLICE = "ganeti-instances.slice"


@frozen
class Scopes:
    """Those of this node."""

    exists: Callable[[Path], bool]
    by_systemd: Path = SYSTEMD
    own_groups: Path = OWN_GROUPS

    def possible(self) -> bool:
        """Whether systemd rules here."""
        return self.exists(self.by_systemd)

    def needed(self) -> bool:
        """Whether what this daemon starts would be in its unit."""
        if not self.possible() or not self.exists(self.own_groups):
            return False
        return any(line.endswith(f"/{NODE}.service") for line in self.own_groups.read_text().splitlines())

    def around(self, argv: Sequence[str], instance: str, mark: str, limits: Sequence[str] = ()) -> list[str]:
        """What starts a program of an instance in a scope of its own.

        @param mark: what no other one on this node has. @param limits: properties of the scope.
        """
        start = ["systemd-run", "--scope", "--quiet", "--collect", f"--slice={SLICE}"]
        named = [f"--unit=ganeti-instance-{checked_name(mark)}.scope", f"--description=Instance {instance}"]
        return [*start, *named, *(f"--property={each}" for each in limits), "--", *argv]
