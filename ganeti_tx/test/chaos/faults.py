"""Carries the schedule out."""

import errno
import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable

from attrs import define, field

from ganeti_tx.devcluster.layout import DevNode
from ganeti_tx.runtime.daemon_names import NODE, ON_ALL_NODES, RAPI
from ganeti_tx.test.chaos.cluster import CampaignCluster
from ganeti_tx.test.chaos.schedule import Fault, Planned

#: Seconds for which a victim is waited for that is just being started again.
TIMEOUT = 20.0
#: How much is written at a time to fill a disk.
CHUNK = 64 * 1024


@define
class FaultInjector:
    """Kills, stops and fills; `say` is told what was done, `counts` has how often."""

    cluster: CampaignCluster
    say: Callable[[str], None]
    counts: Counter[str] = field(factory=Counter)
    _later: list[threading.Timer] = field(factory=list)
    _busy: set[str] = field(factory=set)

    def strike(self, planned: Planned) -> None:
        """Do one thing of the schedule."""
        if planned.fault is Fault.CUT_OFF:
            node = self._node(planned.choice)
            self._stop(planned, node.name, self.cluster.process(node, NODE))
        elif planned.fault is Fault.FREEZE:
            process = self._runner(planned.choice)["job process"]
            self._stop(planned, f"job process {process}", process)
        elif planned.fault is Fault.FULL_DISK:
            self._fill_disk(planned)
        else:
            self._kill(planned)

    def _kill(self, planned: Planned) -> None:
        deadline = time.monotonic() + TIMEOUT
        while True:
            found = self._victims(planned)
            victims = {name: process for name, process in found.items() if process is not None}
            if len(victims) == len(found) and victims:
                break
            if time.monotonic() > deadline:
                self.say(f"{planned.fault}: nobody is there")
                return
            time.sleep(0.02)
        for process in victims.values():
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                continue
        self.counts[planned.fault] += 1
        self.say(f"{planned.fault}: {', '.join(f'{name} {process}' for name, process in victims.items())}")

    def _victims(self, planned: Planned) -> dict[str, int | None]:
        cluster, pick = self.cluster, planned.choice
        if planned.fault is Fault.RUNNER:
            return self._runner(pick)
        if planned.fault is Fault.ZYGOTE:
            return {"zygote": cluster.zygote()}
        if planned.fault is Fault.NODED:
            return self._daemon(self._node(pick), NODE)
        if planned.fault is Fault.OUTWARD:
            return self._outward_daemon(pick)
        daemons = cluster.master_daemons()
        if planned.fault is Fault.MASTER:
            return self._daemon(cluster.master, daemons[int(pick * 97) % len(daemons)])
        all_of_them: list[dict[str, int | None]] = [
            *(self._daemon(cluster.master, daemon) for daemon in daemons),
            {"zygote": cluster.zygote()},
            self._daemon(self._node(pick), NODE),
            self._runner(pick),
        ]
        first = int(pick * 97) % len(all_of_them)
        result: dict[str, int | None] = {}
        for each in (all_of_them + all_of_them)[first : first + 2 + int(pick * 89) % 3]:
            result.update(each)
        return result

    def _node(self, pick: float) -> DevNode:
        nodes = self.cluster.layout.nodes
        return nodes[int(pick * len(nodes))]

    def _daemon(self, node: DevNode, daemon: str) -> dict[str, int | None]:
        return {f"{daemon} of {node.name.split('.')[0]}": self.cluster.process(node, daemon)}

    def _outward_daemon(self, pick: float) -> dict[str, int | None]:
        everywhere = [(node, daemon) for node in self.cluster.layout.nodes for daemon in ON_ALL_NODES]
        daemons = [(self.cluster.master, RAPI), *everywhere]
        return self._daemon(*daemons[int(pick * len(daemons))])

    def _runner(self, pick: float) -> dict[str, int | None]:
        """Most often one in the middle of its work."""
        runners = (self.cluster.busy_runners() if int(pick * 1000) % 4 else []) or self.cluster.runners()
        return {"job process": runners[int(pick * len(runners))] if runners else None}

    def _stop(self, planned: Planned, what: str, process: int | None) -> None:
        if process is None or what in self._busy:
            return
        try:
            os.kill(process, signal.SIGSTOP)
        except ProcessLookupError:
            return
        self._end_later(what, planned, lambda: os.kill(process, signal.SIGCONT), f"{what} goes on")

    def _fill_disk(self, planned: Planned) -> None:
        node = self._node(planned.choice)
        ballast = self.cluster.paths(node).data_dir / "ballast"
        if f"disk {node.name}" in self._busy:
            return
        with ballast.open("wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(CHUNK))
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise
        self._end_later(f"disk {node.name}", planned, ballast.unlink, f"{node.name} has room again")

    def _end_later(self, what: str, planned: Planned, undo: Callable[[], None], words: str) -> None:
        self.counts[planned.fault] += 1
        self._busy.add(what)
        self.say(f"{planned.fault} ({planned.seconds:.1f} s): {what}")

        def end() -> None:
            try:
                undo()
            except ProcessLookupError:
                pass
            self._busy.discard(what)
            self.say(words)

        timer = threading.Timer(planned.seconds, end)
        self._later.append(timer)
        timer.start()

    def finish(self) -> None:
        """Wait until what lasts for a while is over."""
        for timer in self._later:
            timer.join()
