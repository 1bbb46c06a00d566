"""Guests that are network namespaces: each has a wire to the node, and asks its metadata service by a program."""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from attrs import define, field, frozen
from zope.interface import implementer

from ganeti_tx.model.instance_communication import NODE_ADDRESS
from ganeti_tx.model.instance_spec import InstanceSpec, NicSpec
from ganeti_tx.node.hypervisor.interfaces import ITellsInterfaces


def run(*words: str, check: bool = True) -> str:
    """What a program says."""
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    if check and done.returncode != 0:
        raise AssertionError(f"{' '.join(words)} ended with {done.returncode}: {done.stderr}")
    return done.stdout


@implementer(ITellsInterfaces)
@frozen
class Wires:
    """What has connected some guests, whose NICs are called "n" and their number."""

    guests: "Sequence[WiredGuest]"

    async def interface_to(self, instance: InstanceSpec, nic: NicSpec) -> str | None:
        """As ITellsInterfaces says."""
        return next((guest.outside for guest in self.guests if nic.uuid == f"n{guest.number}"), None)


@define
class WiredGuest:
    """One of them, which no other run of the tests on this machine has. @ivar number: 1 or 2. @ivar port: of the service."""

    number: int
    port: int
    process: int = field(factory=os.getpid)

    @property
    def address(self) -> str:
        """By which it is known."""
        return f"169.254.{self.process % 251}.{self.process // 251 % 84 * 3 + self.number}"

    @property
    def mac(self) -> str:
        """Of its card."""
        return f"52:54:00:00:00:{self.number:02x}"

    @property
    def outside(self) -> str:
        """The node's end of its wire, not called as node daemons that run beside this know them: they let only port 80 through."""
        return f"gtxw{self.process:x}{self.number}"

    @property
    def space(self) -> str:
        """The namespace."""
        return f"gtxmd{self.process}-{self.number}"

    def make(self) -> None:
        """Connect it as a node does."""
        inside, outside = f"gtxp{self.process:x}{self.number}", self.outside
        run("ip", "netns", "add", self.space)
        run("ip", "link", "add", outside, "type", "veth", "peer", "name", inside)
        run("ip", "link", "set", inside, "netns", self.space, "name", "eth0")
        self.inside("ip", "link", "set", "dev", "eth0", "address", self.mac)
        run("ip", "link", "set", "dev", outside, "up")
        run("ip", "-4", "address", "replace", f"{NODE_ADDRESS}/32", "dev", outside)
        self.route_to(self)
        self.inside("ip", "link", "set", "dev", "lo", "up")
        self.inside("ip", "link", "set", "dev", "eth0", "up")
        self.use(self.address)

    def route_to(self, guest: "WiredGuest") -> None:
        """Have the node send what is for this one's address to a guest."""
        run("ip", "-4", "route", "replace", self.address, "dev", guest.outside, "src", NODE_ADDRESS)

    def use(self, address: str) -> None:
        """Have an address, and no other; it may be somebody else's."""
        self.inside("ip", "-4", "address", "flush", "dev", "eth0")
        self.inside("ip", "address", "add", f"{address}/16", "dev", "eth0")

    def inside(self, *words: str, check: bool = True) -> str:
        """What a program says there."""
        return run("ip", "netns", "exec", self.space, *words, check=check)

    def find_address(self) -> str:
        """What a DHCP client gets."""
        words = ["udhcpc", "-f", "-n", "-q", "-t", "60", "-T", "1", "-i", "eth0", "-s", "/bin/true"]
        done = subprocess.run(
            ["ip", "netns", "exec", self.space, "busybox", *words], capture_output=True, text=True, timeout=60
        )
        return done.stdout + done.stderr

    def ask(self, path: str, limit: int = 60) -> str:
        """What it gets, and the status; 000 if nobody answers within so many seconds."""
        words = [
            "curl",
            "--silent",
            "--show-error",
            "--max-time",
            str(limit),
            "--write-out",
            "%{http_code}",
            "--noproxy",
            "*",
        ]
        return self.inside(*words, f"http://{NODE_ADDRESS}:{self.port}{path}", check=False)

    def remove(self) -> None:
        """Leave nothing of it."""
        run("ip", "link", "delete", "dev", self.outside, check=False)
        run("ip", "netns", "delete", self.space, check=False)


def why_not() -> str | None:
    """Why there can be none here."""
    for program, package in (("ip", "iproute2"), ("curl", "curl"), ("busybox", "busybox-static")):
        if not any(Path(place, program).exists() for place in ("/sbin", "/usr/sbin", "/bin", "/usr/bin")):
            return f"{program} is missing; install {package}"
    probe = f"gtxmd{os.getpid()}-probe"
    try:
        run("ip", "netns", "add", probe)
    except AssertionError as error:
        return f"no network namespaces: {error}"
    run("ip", "netns", "delete", probe)
    return None
