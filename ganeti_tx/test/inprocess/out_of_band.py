"""An out-of-band program for simulated machines, which really have power or have it not."""

import json
from random import Random

from attrs import define, field

from ganeti_tx.runtime.process import ProcessResult
from ganeti_tx.test.fakes.process import Call
from ganeti_tx.test.inprocess.cluster import InProcessCluster
from ganeti_tx.test.inprocess.disk import put

PROGRAM = "/usr/local/sbin/power"


@define
class PowerProgram:
    """Lies on the master. `broken` says what goes wrong for a node, by its number."""

    cluster: InProcessCluster
    off: set[int] = field(factory=set)
    broken: dict[int, ProcessResult] = field(factory=dict)
    health: dict[int, str] = field(factory=dict)
    calls: list[tuple[str, int]] = field(factory=list)
    times: list[float] = field(factory=list)

    def __attrs_post_init__(self) -> None:
        self.install()

    def install(self) -> None:
        """Lay it out, and have the master's node daemon find it."""
        put(self.cluster.master.disk, self.cluster.paths.root / PROGRAM[1:], b"#!/bin/sh\n", 0o755)
        self.cluster.master.scripts.script([PROGRAM], self.run)

    def run(self, call: Call) -> ProcessResult:
        """As a real one; a machine that has no power keeps what had reached its disk."""
        _, command, name = call.argv
        number = next(number for number in range(1, 10) if self.cluster.node(number).name == name)
        self.calls.append((command, number))
        self.times.append(self.cluster.time.seconds())
        if number in self.broken:
            return self.broken[number]
        if command == "power-status":
            return ProcessResult(stdout=json.dumps({"powered": number not in self.off}).encode())
        if command == "health":
            return ProcessResult(stdout=self.health.get(number, '[["fan", "OK"]]').encode())
        if command in ("power-off", "power-cycle"):
            self._cut(number)
        if command in ("power-on", "power-cycle"):
            self._give(number)
        return ProcessResult()

    def _cut(self, number: int) -> None:
        if number not in self.off:
            self.cluster.node(number).lose_power(Random(number))
            self.off.add(number)

    def _give(self, number: int) -> None:
        if number in self.off:
            self.off.discard(number)
            self.cluster.node(number).boot()
