"""A guest that boots within seconds on a machine of the lab, which is itself emulated; see guest/tick.c for what it does.

An instance that has it is made with `options`, and what it says is in a file on the machine where it runs.
"""

import re
import time
from pathlib import Path

from ganeti_tx.test.lab.kept import done, kept
from ganeti_tx.test.lab.machine import Machine

SOURCES = Path(__file__).with_name("guest")
#: Where it is on a machine: on the disk of the program.
PLACE = "/lab/tick.elf"
COMPILE = [
    *("gcc", "-m32", "-O1", "-w", "-s", "-nostdlib", "-static", "-ffreestanding", "-fno-pic"),
    *("-fno-stack-protector", "-fno-asynchronous-unwind-tables"),
]
#: It takes no more.
MEMORY = 16
#: So many of its last counts are on its disk.
RING = 1000
#: Seconds until it must have counted on; it gets there at once, unless our machine is busy.
LIMIT = 200.0
TICK = re.compile(r"^tick (\d+)$", re.MULTILINE)
#: What was on a disk before may stand right before a count.
TICK_ON_DISK = re.compile(r"tick (\d+)\n")


def made_guest() -> Path:
    """The guest, compiled once. @raise LabFailed: it cannot be."""
    files = [path.read_bytes() for path in sorted(SOURCES.iterdir())]

    def compile_it(directory: Path) -> None:
        layout = f"-Wl,-T,{SOURCES / 'tick.ld'},--build-id=none,--no-warn-rwx-segments"
        done([*COMPILE, layout, "-o", str(directory / "tick.elf"), str(SOURCES / "tick.c")])

    return kept("guest", [*files, " ".join(COMPILE).encode()], compile_it) / "tick.elf"


def options(instance: str) -> list[str]:
    """What `gnt-instance add` is told for an instance that boots it, once it is started."""
    parameters = f"kernel_path={PLACE},initrd_path=,root_path=/dev/hda,disk_type=ide,kvm_extra=-debugcon file:{said_file(instance)}"
    backend = ["-B", f"minmem={MEMORY},maxmem={MEMORY},vcpus=1", "--ignore-ipolicy"]
    return ["-H", f"kvm:{parameters}", *backend, "-o", "noop", "--no-install"]


def said_file(instance: str) -> str:
    """What an instance's guest says since its QEMU was started; on the machine where it runs, lost with its power."""
    return f"/run/guest-{instance}.log"


def ticks(machine: Machine, instance: str) -> list[int]:
    """The counts that it said on a machine, the oldest first; the last may be half said, and is left out then."""
    return [int(number) for number in TICK.findall(machine.ended(f"cat {said_file(instance)}").stdout)]


def counted(machine: Machine, instance: str, number: int) -> list[int]:
    """What it says on a machine, once it is beyond a number. @raise AssertionError: it does not get there."""
    deadline = time.monotonic() + LIMIT
    while not (said := ticks(machine, instance)) or said[-1] <= number:
        assert time.monotonic() < deadline, f"it did not count to {number}: {said}"
        time.sleep(0.3)
    return said


def ticks_on_disk(machine: Machine, device: str) -> list[int]:
    """The last thousand counts that are on its disk, in order, and perhaps those of a guest that had it before.

    @param device: of the disk, as the machine has it.
    """
    text = machine.run(f"set -o pipefail; dd if={device} bs=512 skip=64 count={RING} status=none | tr -d '\\0'")
    return sorted(int(number) for number in TICK_ON_DISK.findall(text))
