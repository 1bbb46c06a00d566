"""A network between this machine and namespaces, of which nothing is left once its maker has ended, also when that is killed."""

import os
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from attrs import define, field, frozen
from twisted.trial.unittest import SkipTest

#: Network and processes of its own: all that a command has started ends with it, and it ends with who started it.
APART = [
    *("setpriv", "--pdeathsig", "KILL"),
    *("unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"),
]
BRIDGE = "switch"
LIMIT = 30.0  # seconds
INTERVAL = 0.02


@frozen
class Namespace:
    """Of one command and what it starts."""

    process: "subprocess.Popen[bytes]"

    @classmethod
    def of(cls, argv: Sequence[str]) -> "Namespace":
        """Start a command in a new one. @raise SkipTest: there can be none."""
        made = cls(subprocess.Popen([*APART, *argv], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL))
        deadline = time.monotonic() + LIMIT
        while network_of(made.process.pid) == network_of(os.getpid()):
            if made.process.poll() is not None or time.monotonic() > deadline:
                raise SkipTest("no network namespace can be made")
            time.sleep(INTERVAL)
        return made

    def end(self) -> None:
        """Kill all that runs there; its interfaces go with it."""
        self.process.kill()
        self.process.wait(LIMIT)


@define
class Switch:
    """A bridge in a namespace of its own. @ivar subnet: the first three numbers of all addresses."""

    subnet: str
    _space: Namespace = field(factory=lambda: Namespace.of(["sleep", "infinity"]))

    def __attrs_post_init__(self) -> None:
        self._ip(f"link add {BRIDGE} type bridge")
        self._ip(f"link set {BRIDGE} up")
        self.plug("here", os.getpid(), f"gtx{os.getpid()}", 254)

    def address(self, number: int) -> str:
        """That of who is plugged in by this number."""
        return f"{self.subnet}.{number}"

    def plug(self, name: str, pid: int, interface: str, number: int) -> None:
        """Let the network of a process in, by an interface there. @param name: that of the cable, for `cut`."""
        self._ip(f"link add {name} type veth peer name {interface} netns {pid}")
        self.mend(name)
        ip(pid, f"address add {self.address(number)}/24 dev {interface}")
        ip(pid, f"link set {interface} up")

    def cut(self, name: str) -> None:
        """Pull a cable out: both sides see their link up, and nothing passes."""
        self._ip(f"link set {name} nomaster")

    def mend(self, name: str) -> None:
        """Put it in again."""
        self._ip(f"link set {name} master {BRIDGE} up")

    def end(self) -> None:
        """Remove it, with all cables."""
        self._space.end()

    def _ip(self, words: str) -> None:
        ip(self._space.process.pid, words)


def ip(pid: int, words: str) -> None:
    """Do it in the network of a process. @raise AssertionError: it fails."""
    argv = ["nsenter", f"--net=/proc/{pid}/ns/net", "ip", *words.split()]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=LIMIT, check=False)
    assert done.returncode == 0, f"ip {words}: {done.stderr}"


def network_of(pid: int) -> str:
    """What tells the network of a process from others."""
    return str(Path(f"/proc/{pid}/ns/net").readlink())
