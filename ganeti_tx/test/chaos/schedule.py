"""What is done to the cluster and when: all of it follows from a seed."""

from collections.abc import Mapping
from enum import StrEnum
from random import Random

from attrs import frozen


class Fault(StrEnum):
    """One thing that can befall a cluster."""

    RUNNER = "kill a job process"
    MASTER = "kill the master daemon"
    ZYGOTE = "kill the zygote"
    NODED = "kill a node daemon"
    OUTWARD = "kill an outward daemon"
    TOGETHER = "kill several at once"
    CUT_OFF = "stop a node daemon for a while"
    FREEZE = "stop a job process for a while"
    FULL_DISK = "fill a node's disk for a while"


#: How often each comes, relative to the others.
WEIGHTS: Mapping[Fault, int] = {
    Fault.RUNNER: 44,
    Fault.MASTER: 18,
    Fault.ZYGOTE: 10,
    Fault.NODED: 12,
    Fault.OUTWARD: 6,
    Fault.TOGETHER: 6,
    Fault.CUT_OFF: 5,
    Fault.FREEZE: 5,
    Fault.FULL_DISK: 5,
}
#: Those that end processes.
KILLS = frozenset({Fault.RUNNER, Fault.MASTER, Fault.ZYGOTE, Fault.NODED, Fault.OUTWARD, Fault.TOGETHER})
#: Seconds for which a process is stopped or a disk is full.
LEAST, MOST = 0.5, 5.0


@frozen
class Planned:
    """A fault at a time in seconds after the start; `choice` picks the victim among those there are, 0 to 1."""

    at: float
    fault: Fault
    choice: float
    seconds: float


def plan(seed: int, seconds: float, kills: int, disks: bool) -> list[Planned]:
    """The whole campaign in the order of time: so many kills, and other faults between them.

    @param disks: whether disks can be filled on this machine.
    """
    random = Random(f"schedule {seed}")
    weights = {fault: weight for fault, weight in WEIGHTS.items() if disks or fault is not Fault.FULL_DISK}
    faults: list[Fault] = []
    while sum(fault in KILLS for fault in faults) < kills:
        faults += random.choices(list(weights), list(weights.values()))
    times = sorted(random.uniform(0, seconds) for _ in faults)
    return [
        Planned(at, fault, random.random(), random.uniform(LEAST, MOST))
        for at, fault in zip(times, faults, strict=True)
    ]
