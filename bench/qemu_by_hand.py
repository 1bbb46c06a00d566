"""QEMU without anything around it: a machine is started, and sent to another QEMU by QMP as its manual says."""

import json
import socket
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from attrs import define

QEMU = "qemu-system-x86_64"
#: Seconds for anything to come true.
LIMIT = 120.0
CAPABILITIES = ("return-path", "events")
PROMPT = b"/ # "


@define(frozen=True)
class Machine:
    """What is sent; memory in MiB, bandwidth in MiB/s, downtime in milliseconds."""

    kernel: Path
    initrd: Path
    disk: Path
    memory: int
    bandwidth: int
    downtime: int

    def argv(self, directory: Path, incoming: bool) -> list[str]:
        """QEMU's command line; its sockets lie in the directory."""
        argv = [QEMU, "-accel", "tcg", "-m", str(self.memory), "-nodefaults", "-display", "none", "-S"]
        argv += ["-kernel", str(self.kernel), "-initrd", str(self.initrd), "-append", "console=ttyS0,38400 quiet"]
        argv += ["-device", "virtio-balloon", "-drive", f"file={self.disk},format=raw,if=virtio,cache=none"]
        argv += ["-netdev", "user,id=net,restrict=on", "-device", "virtio-net-pci,netdev=net,romfile="]
        for option, name in (("-serial", "serial"), ("-qmp", "qmp")):
            argv += [option, f"unix:{directory / name},server=on,wait=off"]
        return [*argv, "-incoming", "defer"] if incoming else argv


class Qemu:
    """One of the two, from its start to its end."""

    def __init__(self, machine: Machine, directory: Path, incoming: bool) -> None:
        directory.mkdir()
        self.serial = directory / "serial"
        self._process = subprocess.Popen(machine.argv(directory, incoming), stdin=subprocess.DEVNULL)
        self._qmp = connected(directory / "qmp")
        self._lines = self._qmp.makefile("r")
        self._lines.readline()  # its greeting
        self.execute("qmp_capabilities")
        able = {each["capability"] for each in self.execute("query-migrate-capabilities")}
        on = [{"capability": name, "state": True} for name in CAPABILITIES if name in able]
        self.execute("migrate-set-capabilities", capabilities=on)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._qmp.close()
        self._process.kill()
        self._process.wait()

    def execute(self, command: str, **arguments: Any) -> Any:
        """What QMP answers; events are passed over."""
        self._qmp.sendall(json.dumps({"execute": command, "arguments": arguments}).encode() + b"\n")
        while line := self._lines.readline():
            answer = json.loads(line)
            if "error" in answer:
                raise SystemExit(f"QEMU refuses {command}: {answer['error']['desc']}")
            if "return" in answer:
                return answer["return"]
        raise SystemExit(f"QEMU has ended at {command}")


def connected(path: Path) -> socket.socket:
    """Connected to a socket of a QEMU that may still be starting."""
    deadline = time.monotonic() + LIMIT
    while True:
        found = socket.socket(socket.AF_UNIX)
        found.settimeout(LIMIT)
        try:
            found.connect(str(path))
            return found
        except (FileNotFoundError, ConnectionRefusedError):
            found.close()
            if time.monotonic() > deadline:
                raise SystemExit(f"nothing listens on {path}") from None
            time.sleep(0.01)


def wait_for_prompt(serial: Path) -> None:
    """Wait until the guest's shell asks for a command: it has booted and does nothing."""
    said = b""
    with connected(serial) as console:
        while PROMPT not in said:
            console.sendall(b"\n")
            time.sleep(0.5)
            said += console.recv(65536)


def sent_by_hand(machine: Machine, directory: Path, port: int) -> dict[str, float]:
    """Milliseconds: from the start of the second QEMU until it runs the machine, and what the first one tells of it."""
    with Qemu(machine, directory / "old", incoming=False) as old:
        old.execute("cont")
        wait_for_prompt(old.serial)
        begun = time.monotonic()
        with Qemu(machine, directory / "new", incoming=True) as new:
            where = f"tcp:127.0.0.1:{port}"
            new.execute("migrate-incoming", uri=where)
            limits = {"max-bandwidth": machine.bandwidth << 20, "downtime-limit": machine.downtime}
            old.execute("migrate-set-parameters", **limits)
            old.execute("migrate", uri=where)
            told = wait_for_end(old)
            new.execute("cont")
            return {
                "wall": (time.monotonic() - begun) * 1000,
                "total": float(told["total-time"]),
                "down": float(told["downtime"]),
            }


def wait_for_end(old: Qemu) -> dict[str, Any]:
    """What is told of a migration that has come to its end."""
    deadline = time.monotonic() + LIMIT
    while (told := old.execute("query-migrate")).get("status") != "completed":
        if told.get("status") in ("failed", "cancelled") or time.monotonic() > deadline:
            raise SystemExit(f"the migration by hand did not end well: {told}")
        time.sleep(0.02)
    return dict(told)
