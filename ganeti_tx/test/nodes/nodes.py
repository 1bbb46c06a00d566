"""A set of nodes: brought up, entered, cut from power, taken down."""

import hashlib
import os
import shlex
import shutil
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
from attrs import frozen

from ganeti_tx.test.nodes.layers import COVERED, INSIDE, Layer, cache_directory, made
from ganeti_tx.test.nodes.machine import NO_CLOCK, PATH, control_groups

SWITCH = "for i in 0 1; do ip link add switch$i type bridge; ip link set switch$i up; done; exec sleep infinity"
#: Seconds until a node has booted, until a command must have ended, and between looks.
BOOT_LIMIT = 180.0
COMMAND_LIMIT = 300.0
INTERVAL = 0.05
NAMESPACES = ("--mount", "--uts", "--ipc", "--net", "--pid", "--cgroup")


class NodeFailed(Exception):
    """A node did not come up, or a command in it did not end well."""


class Description(msgspec.Struct, frozen=True):
    """What a set of nodes is made of; kept in its state directory."""

    count: int
    layers: list[str]


@frozen
class Nodes:
    """The nodes whose files are below a directory; they are numbered from 1."""

    state: Path

    @property
    def group(self) -> Path:
        """The control group of all of them. @raise NodeFailed: this machine has none."""
        top = control_groups()
        if top is None:
            raise NodeFailed("cgroup2 is not mounted")
        return top / f"ganeti-nodes-{hashlib.sha256(os.fsencode(self.state)).hexdigest()[:8]}"

    @property
    def numbers(self) -> range:
        """Of the nodes."""
        return range(1, self._description().count + 1)

    def up(self, layer: Layer, count: int = 3) -> None:
        """Make the nodes anew and wait until they have booted. @raise NodeFailed, LayerFailed: they do not."""
        layers = made(layer, cache_directory())
        self.state.mkdir(parents=True, exist_ok=True, mode=0o700)
        description = Description(count, [str(path) for path in layers])
        (self.state / "nodes.json").write_bytes(msgspec.json.encode(description))
        self.group.mkdir()
        self._spawn("switch", ["unshare", "--net", "sh", "-c", SWITCH])
        self._until(self._switch_is_up, "the switch did not come up")
        for node in self.numbers:
            self._boot(node)
        for node in self.numbers:
            self.wait_until_booted(node)

    def run(
        self, node: int, command: str, *, status: int | None = 0, limit: float = COMMAND_LIMIT, text: str = ""
    ) -> str:
        """Run a shell command as root and give what it said, on standard error too.

        @param status: the exit status it must have; None for any. @param text: its standard input.
        @raise NodeFailed: it ended otherwise.
        """
        done = self.ended(node, command, limit=limit, text=text)
        if status is not None and done.returncode != status:
            raise NodeFailed(f"node{node}: {command}: status {done.returncode}, not {status}\n{done.stdout}")
        return done.stdout

    def ended(
        self, node: int, command: str, *, limit: float = COMMAND_LIMIT, text: str = ""
    ) -> "subprocess.CompletedProcess[str]":
        """The same with its exit status."""
        try:
            return subprocess.run(
                self.entering(node, ["setpriv", "--pdeathsig", "KILL", "sh", "-c", command]),
                input=text,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                timeout=limit,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            said = (error.stdout or b"").decode("utf-8", "replace")
            raise NodeFailed(f"node{node}: {command}: did not end within {limit:.0f} s\n{said}") from None

    def entering(self, node: int, argv: Sequence[str]) -> list[str]:
        """The command that runs another inside a node, in its control group. @raise NodeFailed: it is off."""
        process = self._first_process(node)
        if process is None:
            raise NodeFailed(f"node{node} is off")
        group = self.group / f"node{node}" / "entered"
        group.mkdir(exist_ok=True)
        inside = ["nsenter", "-t", str(process), *NAMESPACES, "--", "/usr/bin/env", "-i"]
        environment = ["HOME=/root", "LANG=C.UTF-8", f"TERM={os.environ.get('TERM', 'dumb')}", f"PATH={PATH}"]
        line = shlex.join([*NO_CLOCK, *inside, *environment, *argv])
        return ["sh", "-c", f"echo 0 > {shlex.quote(str(group))}/cgroup.procs && exec {line}"]

    def power_off(self, node: int) -> None:
        """Cut its power: all that runs there is killed at once, what is on its disk stays."""
        end_group(self.group / f"node{node}")
        for link in (f"node{node}-eth0", f"node{node}-eth1"):  # the kernel takes its time to remove them
            subprocess.run(
                ["nsenter", f"--net={self._switch()}", "ip", "link", "delete", link], capture_output=True, check=False
            )

    def power_on(self, node: int) -> None:
        """Boot it, and wait until it has."""
        if self.is_on(node):
            raise NodeFailed(f"node{node} is on")
        self.power_off(node)  # it may have turned itself off
        self._boot(node)
        self.wait_until_booted(node)

    def reboot(self, node: int) -> None:
        """A short power cut."""
        self.power_off(node)
        self._boot(node)
        self.wait_until_booted(node)

    def is_on(self, node: int) -> bool:
        """Whether it has a first process."""
        return self._first_process(node) is not None

    def down(self) -> None:
        """End and remove everything of these nodes; the layers stay for others."""
        end_group(self.group)
        shutil.rmtree(self.state, ignore_errors=True)

    def failed_units(self, node: int) -> list[str]:
        """Which units systemd shows in red."""
        listed = self.run(node, "systemctl list-units --failed --plain --no-legend --no-pager")
        return [line.split()[0] for line in listed.splitlines() if line.strip()]

    def wait_until_booted(self, node: int) -> None:
        """@raise NodeFailed: it does not within `BOOT_LIMIT`."""
        self._until(lambda: self._has_booted(node), f"node{node} did not come up")

    def _has_booted(self, node: int) -> bool:
        if not self.is_on(node):
            return False
        return self.ended(node, "systemctl is-system-running").stdout.strip() in ("running", "degraded")

    def _boot(self, node: int) -> None:
        group = self.group / f"node{node}"
        group.mkdir()
        apart = ["unshare", "--net", "--mount", "--uts", "--ipc", "--pid", "--fork"]
        arguments = [str(self.state), str(node), str(self._description().count), str(group), self._switch()]
        self._spawn(f"node{node}", [*NO_CLOCK, *apart, "bash", str(INSIDE), "boot", *arguments, *self._layers()])

    def _spawn(self, name: str, argv: Sequence[str]) -> None:
        """Start something that lives on when this process ends, in the control group."""
        group = self.group / ("switch" if name == "switch" else "starters")
        group.mkdir(exist_ok=True)
        with (self.state / f"{name}.log").open("ab") as log:
            subprocess.Popen(
                ["sh", "-c", f'echo 0 > {shlex.quote(str(group))}/cgroup.procs && exec "$@"', "sh", *argv],
                env={"PATH": PATH, "COVERED": COVERED},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def _switch(self) -> str:
        return f"/proc/{(self.group / 'switch' / 'cgroup.procs').read_text().split()[0]}/ns/net"

    def _switch_is_up(self) -> bool:
        try:
            probe = ["nsenter", f"--net={self._switch()}", "ip", "link", "show", "switch1"]
        except (OSError, IndexError):
            return False
        return subprocess.run(probe, capture_output=True, check=False).returncode == 0

    def _first_process(self, node: int) -> int | None:
        """Where systemd puts itself; its id as the machine counts."""
        try:
            found = (self.group / f"node{node}" / "init.scope" / "cgroup.procs").read_text().split()
        except OSError:
            return None
        return int(found[0]) if found else None

    def _until(self, done: Callable[[], bool], why: str) -> None:
        deadline = time.monotonic() + BOOT_LIMIT
        while not done():
            if time.monotonic() > deadline:
                logs = "".join(path.read_text(errors="replace") for path in sorted(self.state.glob("*.log")))
                raise NodeFailed(f"{why} within {BOOT_LIMIT:.0f} s\n{logs[-2000:]}")
            time.sleep(INTERVAL)

    def _description(self) -> Description:
        try:
            return msgspec.json.decode((self.state / "nodes.json").read_bytes(), type=Description)
        except FileNotFoundError:
            raise NodeFailed(f"there are no nodes in {self.state}") from None

    def _layers(self) -> list[str]:
        return self._description().layers


def end_group(group: Path) -> None:
    """End all processes of a control group, then remove it."""
    if not group.exists():
        return
    (group / "cgroup.kill").write_text("1")
    while "populated 1" in (group / "cgroup.events").read_text():
        time.sleep(INTERVAL)
    for path, _, _ in os.walk(group, topdown=False):
        os.rmdir(path)
