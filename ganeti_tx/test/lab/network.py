"""The network of a lab: a namespace with two bridges, which the machines' interfaces are plugged into.

Whatever runs in the namespace is "outside", the machines' neighbour at 10.99.0.254 and 10.99.1.254.
"""

import subprocess
from collections.abc import Sequence
from pathlib import Path

from attrs import frozen

from ganeti_tx.test.lab.kept import LabFailed, done
from ganeti_tx.test.lab.processes import Kept

#: Machines' interfaces: eth0, whose addresses the cluster knows, and eth1, over which disks are mirrored.
NETWORKS = (0, 1)
OUTSIDE = 254
BRIDGES = " && ".join(
    f"ip link add lab{net} type bridge && ip addr add 10.99.{net}.{OUTSIDE}/24 dev lab{net} && ip link set lab{net} up"
    for net in NETWORKS
)


def address(node: int, net: int = 0) -> str:
    """Of a machine in one of the networks."""
    return f"10.99.{net}.{node}"


def tap(node: int, net: int) -> str:
    """The end outside of a machine's interface."""
    return f"node{node}-eth{net}"


@frozen
class Network:
    """The network of the lab in a directory."""

    state: Path

    @property
    def _holder(self) -> Kept:
        return Kept(self.state / "network")

    def up(self) -> None:
        """Make the namespace."""
        # A mount of its own of /sys shows the interfaces of the namespace.
        script = f"mount -t sysfs sysfs /sys && ip link set lo up && {BRIDGES} && exec sleep infinity"
        self._holder.start(["unshare", "--net", "--mount", "sh", "-c", script])
        self._holder.until(self._is_up, "the network did not come up")

    def inside(self, argv: Sequence[str]) -> list[str]:
        """The command that runs another in the namespace. @raise LabFailed: there is none."""
        holder = self._holder.pid()
        if holder is None:
            raise LabFailed(f"no lab is up in {self.state}")
        own = f"/proc/{holder}/ns"
        return ["nsenter", f"--net={own}/net", f"--mount={own}/mnt", f"--wdns={Path.cwd()}", "--", *argv]

    def plug(self, node: int) -> None:
        """Have a machine's interfaces, which QEMU then opens."""
        for net in NETWORKS:
            name = tap(node, net)
            if not self._exists(name):
                done(self.inside(["ip", "tuntap", "add", name, "mode", "tap"]))
            done(self.inside(["ip", "link", "set", name, "master", f"lab{net}", "up"]))

    def cut(self, node: int, net: int) -> None:
        """Pull a machine's cable: it keeps its interface, nothing passes."""
        done(self.inside(["ip", "link", "set", tap(node, net), "nomaster"]))

    def mend(self, node: int, net: int) -> None:
        """Plug it in again."""
        done(self.inside(["ip", "link", "set", tap(node, net), "master", f"lab{net}"]))

    def down(self) -> None:
        """Remove it; what runs there besides the machines ends by itself."""
        self._holder.end()

    def _exists(self, name: str) -> bool:
        look = self.inside(["ip", "link", "show", name])
        return subprocess.run(look, capture_output=True, check=False).returncode == 0

    def _is_up(self) -> bool:
        return self._holder.pid() is not None and self._exists(f"lab{NETWORKS[-1]}")
