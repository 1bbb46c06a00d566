"""What can befall the machines of a mirror in the middle of an operation, chosen by a number."""

import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import product
from random import Random

from attrs import frozen

from ganeti_tx.test.lab.machine import Machine
from ganeti_tx.test.lab.mirrored import MirroredInstance

#: The network that disks are mirrored over.
MIRRORING = 1
#: Makes every access to a volume fail from now on, as a disk that is broken does; the next of its name while volumes are exchanged.
BREAK = """
for i in $(seq 300); do [ -e {volume} ] && break; sleep 0.2; done
name=$(dmsetup info -c --noheadings -o name {volume}) && size=$(blockdev --getsz {volume}) &&
dmsetup suspend --nolockfs --noflush $name && echo "0 $size error" | dmsetup load $name && dmsetup resume $name
"""
FILL = "lvcreate -q -y -l 100%FREE -n filler xenvg"
EMPTY = "lvremove -q -f xenvg/filler"

OPERATIONS = ("create", "resync", "grow", "replace", "migrate")
#: Each with the operations that it is tried with; "primary" and "secondary" is the side that it befalls. "kill" befalls the
#: job's process, wherever the disks are.
FAULTS = {
    "power": OPERATIONS,
    "link": OPERATIONS,
    "full": ("create", "grow", "replace"),
    "errors": ("resync", "grow", "replace"),
    "kill": ("create", "grow", "replace", "migrate"),
}
SIDES = ("primary", "secondary")
#: The first numbers; one of almost everything.
FIRST = (
    ("create", "power", "secondary"),
    ("resync", "power", "primary"),
    ("grow", "link", "secondary"),
    ("replace", "power", "primary"),
    ("migrate", "power", "secondary"),
    ("replace", "errors", "secondary"),
)
EVERY = [
    each
    for fault, operations in FAULTS.items()
    for each in product(operations, (fault,), SIDES[: 1 + (fault != "kill")])
]
ALL = [*FIRST, *(each for each in EVERY if each not in FIRST)]
#: The steps of a job during which something happens; seconds from the beginning of one, and until the fault is over, at most.
STEPS = 6
LATER = 2.0
LASTS = 20.0


@frozen
class Case:
    """One number's: the fault comes `later` seconds after the job has begun its step number `step`, and lasts some more.

    Steps are counted round: a job that has fewer begins again with its first.
    """

    operation: str
    fault: str
    side: str
    step: int
    later: float
    lasts: float

    @classmethod
    def of(cls, seed: int) -> "Case":
        """As many numbers as there are in `ALL` have each operation with each fault."""
        chance = Random(seed)
        operation, fault, side = ALL[seed % len(ALL)]
        step, later, lasts = chance.randint(1, STEPS), chance.uniform(0.0, LATER), chance.uniform(0.0, LASTS)
        return cls(operation, fault, side, step, later, lasts)

    @property
    def replaces(self) -> str:
        """The side whose volumes are replaced: one that breaks, as the other is the only good copy meanwhile."""
        return self.side if self.fault == "errors" else SIDES[self.step % 2 == 0]


@frozen
class Befall:
    """Brings a case's fault upon a machine, and takes it back as far as an administrator would."""

    case: Case
    instance: MirroredInstance
    machine: Machine

    def before(self) -> None:
        """What is there when the operation begins: by every second number a volume group is full before anybody looks."""
        if self.case.fault == "full" and self.case.step % 2 == 0:
            self.machine.run(FILL)

    def now(self, process: int | None) -> None:
        """In the middle of it, which is in the hands of a process of the master."""
        match self.case.fault:
            case "kill":
                if process is not None:
                    with suppress(ProcessLookupError):
                        os.kill(process, signal.SIGKILL)
            case "power":
                self.machine.cut()
            case "link":
                self.instance.cluster.lab.network.cut(self.machine.node, MIRRORING)
            case "full" if self.case.step % 2:
                self.machine.run(FILL)
            case "errors":
                self.machine.run(BREAK.format(volume=self.instance.volume(self.machine)))

    def over(self) -> None:
        """The power is back, the cable plugged in; a broken disk stays."""
        match self.case.fault:
            case "power":
                self.instance.cluster.power_up(self.machine)
            case "link":
                self.instance.cluster.lab.network.mend(self.machine.node, MIRRORING)
            case "full":
                self.machine.run(f"! lvs -q xenvg/filler || {EMPTY}")


def until(done: Callable[[], bool], limit: float, interval: float = 0.1) -> bool:
    """Whether it was so in time."""
    end = time.monotonic() + limit
    while not done():
        if time.monotonic() > end:
            return False
        time.sleep(interval)
    return True
