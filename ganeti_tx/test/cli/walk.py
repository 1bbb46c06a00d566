"""Command lines beside one another: what one sends and shows, and what of it an option changes.

What is read comes from a cluster in this process, what would change something is only written down.
"""

import io
import json
from collections.abc import Sequence
from typing import Any

from attrs import frozen
from msgspec import Struct

from ganeti_tx.cli.main import program_named
from ganeti_tx.cli.program import CommandContext, run
from ganeti_tx.luxi.method_table import Effect
from ganeti_tx.luxi.methods import METHODS
from ganeti_tx.test.cli.fakes import FakeClient, Terminal
from ganeti_tx.test.inprocess.case import scene_of
from ganeti_tx.test.inprocess.cluster import InProcessCluster
from ganeti_tx.test.inprocess.commands import DrivingClient
from ganeti_tx.test.inprocess.mirrors import mirrored_cluster

NOW = 1700000000.0
MASTER = "node1.example.com"
MOST_SLEEPS = 20
#: Opcodes that change nothing.
TELLING = {
    "OP_EXT_STORAGE_DIAGNOSE",
    "OP_INSTANCE_QUERY_DATA",
    "OP_NODE_QUERYVOLS",
    "OP_NODE_QUERY_STORAGE",
    "OP_OS_DIAGNOSE",
}


@frozen
class Trace:
    """One run: what was asked of daemons, which programs were run with what, and what came out."""

    status: int
    asked: list[Any]
    programs: list[Any]
    out: str
    err: str

    @property
    def sent(self) -> list[Any]:
        """Everything that left the program but for what it printed."""
        return [*self.asked, *self.programs]


def scenery() -> InProcessCluster:
    """A cluster to look at.

    It has instances, one of them mirrored, tags, an out-of-band program, a network, an export, a job that runs for ever, and one
    that a rule holds back."""
    cluster, _wire = mirrored_cluster()
    scene = scene_of(cluster)
    usual = f"-s 1G -o {scene.os} --no-name-check --no-ip-check"
    _first, second, third = scene.nodes
    for line in (
        f"gnt-instance add -t file -n {second} {usual} web1.example.com",
        f"gnt-instance add -t drbd -n {second}:{third} {usual} web2.example.com",
        "gnt-instance add-tags web1 web",
        f"gnt-node add-tags {second} rack1",
        f"gnt-node add-tags {third} rack2",
        *(f"gnt-node modify --node-parameters oob_program=/bin/true {node}" for node in (second, third)),
        "gnt-group add away",
        f"gnt-group assign-nodes --force away {third}",
        "gnt-network add --network=10.77.0.0/28 mesh",
        f"gnt-backup export --long-sleep --node {third} web1.example.com",
        "gnt-debug delay --submit 100000",
        'gnt-filter add --action=PAUSE --predicates=[["opcode",["=","OP_ID","OP_TEST_DELAY"]]]',
        "gnt-debug delay --submit 0",
    ):
        scene.ok(line)
    return cluster


class Readings:
    """A cluster's answers to questions, each of which is asked once."""

    def __init__(self, cluster: InProcessCluster) -> None:
        self._luxi = DrivingClient(cluster)
        self._known: dict[str, str] = {}

    def answer(self, method: str, args: list[Any]) -> Any:
        """A fresh copy, since commands may change what they got."""
        key = json.dumps([method, args])
        if key not in self._known:
            self._known[key] = json.dumps(self._luxi.call(method, args))
        return json.loads(self._known[key])

    def result(self, op: dict[str, Any]) -> Any:
        """What an opcode gives that changes nothing."""
        op = {name: value for name, value in op.items() if name not in ("dry_run", "priority", "debug_level")}
        key = json.dumps({**op, "reason": []})
        if key not in self._known:
            job_id = self._luxi.submit_job([{**op, "reason": []}])
            self._luxi.wait_for_job_change(job_id, ["end_ts"], [None], None)
            ((status, results),) = self._luxi.query_jobs([job_id], ["status", "opresult"])
            assert status == "success", (op, results)
            self._known[key] = json.dumps(results[0])
        return json.loads(self._known[key])

    def close(self) -> None:
        """No more questions."""
        self._luxi.close()


class ReadingClient(FakeClient):
    """Jobs run at once and do nothing; questions are answered by the cluster."""

    def __init__(self, readings: Readings, results: dict[str, Any]) -> None:
        super().__init__()
        self._readings = readings
        self.results.update(results)
        self.jobs[1] = []

    def call(self, method: str, args: list[Any]) -> Any:
        """As FakeClient says, for what it knows of jobs; other changes answer with null."""
        if self._is_of_job(method, args):
            return super().call(method, args)
        sent = json.loads(json.dumps(args))
        if method == "Echo":  # other daemons' own
            self.calls.append((method, sent))
            return sent[-1]
        METHODS[method].read(sent)
        self.calls.append((method, sent))
        if METHODS[method].effect is Effect.TELLS:
            return self._readings.answer(method, sent)
        return self.answers.get(method, lambda *_: None)(*sent)

    def _submit_job(self, ops: list[dict[str, Any]]) -> int:
        for op in ops:
            if op["OP_ID"] in TELLING:
                self.results[op["OP_ID"]] = self._readings.result(op)
        return super()._submit_job(ops)

    _own = {**FakeClient._own, "SubmitJob": _submit_job}

    def _is_of_job(self, method: str, args: list[Any]) -> bool:
        about_job = method in ("SubmitJob", "SubmitJobToDrainedQueue", "SubmitManyJobs", "WaitForJobChange")
        return about_job or (method == "QueryJobs" and args[1] == ["status", "opstatus", "opresult"])


class Around(Struct, frozen=True):
    """What a command finds, where that is not the usual."""

    results: dict[str, Any] = {}
    """What opcodes give, by OP_ID."""
    answers: dict[str, Any] = {}
    """What methods answer that change something."""
    captured: dict[str, tuple[int, str]] = {}
    """What programs print whose output is read, by the last word of the command."""
    stdin: str = ""
    host: str = MASTER


class Run:
    """One run's surroundings, which write down what happens."""

    def __init__(self, around: Around, readings: Readings) -> None:
        self.client = ReadingClient(readings, around.results)
        self.client.answers.update({method: lambda *_, it=it: it for method, it in around.answers.items()})
        self.done: list[Any] = []
        self._around = around

    def start(self, argv: Sequence[str], document: bytes | None) -> int:
        """Every program is content."""
        self.done.append([list(argv), (document or b"").decode()])
        return 0

    def capture(self, argv: Sequence[str]) -> tuple[int, str]:
        """What the program would print."""
        self.done.append(list(argv))
        return self._around.captured.get(argv[-1], (0, ""))

    def sleep(self, seconds: float) -> None:
        """Whoever waits for ever is interrupted."""
        self.done.append(["sleep", seconds])
        if len(self.done) > MOST_SLEEPS:
            raise KeyboardInterrupt


def traced(program: str, words: Sequence[str], readings: Readings, around: Around) -> Trace:
    """Run one command line."""
    out, err = io.StringIO(), io.StringIO()
    seen = Run(around, readings)
    stdin = Terminal(around.stdin) if around.stdin else io.StringIO()
    context = CommandContext(
        {"GANETI_HOSTNAME": around.host}, out, err, stdin, lambda: seen.client, seen.start,
        now=lambda: NOW, sleep=seen.sleep, read=lambda path: around.host, capture=seen.capture,
        connect_to=lambda path, daemon: seen.client, listens=lambda address: True,
    )  # fmt: skip
    status = run(program_named(program), words, context)
    return Trace(status, [list(each) for each in seen.client.calls], seen.done, out.getvalue(), err.getvalue())
