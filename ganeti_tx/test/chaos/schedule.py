"""What is done to the cluster and when: all of it follows from a seed."""

from collections.abc import Mapping
from enum import StrEnum
from random import Random

from attrs import frozen


class Blow(StrEnum):
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
WEIGHTS: Mapping[Blow, int] = {
    Blow.RUNNER: 44,
    Blow.MASTER: 18,
    Blow.ZYGOTE: 10,
    Blow.NODED: 12,
    Blow.OUTWARD: 6,
    Blow.TOGETHER: 6,
    Blow.CUT_OFF: 5,
    Blow.FREEZE: 5,
    Blow.FULL_DISK: 5,
}
#: Those that end processes.
KILLS = frozenset({Blow.RUNNER, Blow.MASTER, Blow.ZYGOTE, Blow.NODED, Blow.OUTWARD, Blow.TOGETHER})
#: Seconds for which a process is stopped or a disk is full.
LEAST, MOST = 0.5, 5.0


@frozen
class Planned:
    """A blow at a time in seconds after the start; `choice` picks the victim among those there are, 0 to 1."""

    at: float
    blow: Blow
    choice: float
    seconds: float


def plan(seed: int, seconds: float, kills: int, disks: bool) -> list[Planned]:
    """The whole campaign in the order of time: so many kills, and other blows between them.

    @param disks: whether disks can be filled on this machine.
    """
    random = Random(f"schedule {seed}")
    weights = {blow: weight for blow, weight in WEIGHTS.items() if disks or blow is not Blow.FULL_DISK}
    blows: list[Blow] = []
    while sum(blow in KILLS for blow in blows) < kills:
        blows += random.choices(list(weights), list(weights.values()))
    times = sorted(random.uniform(0, seconds) for _ in blows)
    return [
        Planned(at, blow, random.random(), random.uniform(LEAST, MOST)) for at, blow in zip(times, blows, strict=True)
    ]
