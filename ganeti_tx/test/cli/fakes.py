"""A master daemon in memory for the commands, which refuses what the real one's table of methods and opcodes refuses."""

import io
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ganeti_tx.cli.main import program_named
from ganeti_tx.cli.program import CommandContext, run
from ganeti_tx.errors import GanetiError, JobLost, encode_error
from ganeti_tx.luxi.client import Client
from ganeti_tx.luxi.methods import METHODS
from ganeti_tx.model import opcodes

STAMP = [1700000000, 250000]


class FakeClient(Client):
    """Runs every job at once; `results` tells what an opcode gives, `answers` what any other method answers."""

    def __init__(self) -> None:
        super().__init__("/nonexistent")
        self.calls: list[tuple[str, list[Any]]] = []
        self.answers: dict[str, Callable[..., Any]] = {}
        self.results: dict[str, Any] = {}
        self.log: list[list[Any]] = []
        self.jobs: dict[int, list[dict[str, Any]]] = {}

    def call(self, method: str, args: list[Any]) -> Any:
        """As over the wire: everything passes through JSON, and the table of methods checks it."""
        sent = json.loads(json.dumps(args))
        METHODS[method].read(sent)
        self.calls.append((method, sent))
        if method in self.answers:
            return self.answers[method](*sent)
        return self._own[method](self, *sent)

    def sent(self, method: str) -> list[list[Any]]:
        """The arguments of each call of a method."""
        return [args for name, args in self.calls if name == method]

    @property
    def submitted(self) -> list[dict[str, Any]]:
        """All opcodes that came in, without the reason trail."""
        return [
            {key: value for key, value in op.items() if key != "reason"} for ops in self.jobs.values() for op in ops
        ]

    def _submit_job(self, ops: list[dict[str, Any]]) -> int:
        for op in ops:
            opcodes.decode(op, strict_wire=True)
        job_id = len(self.jobs) + 1
        self.jobs[job_id] = ops
        return job_id

    def _submit_many_jobs(self, jobs: list[list[dict[str, Any]]]) -> list[Any]:
        return [[True, self._submit_job(ops)] for ops in jobs]

    def _wait_for_job_change(self, job_id: int, fields: list[str], previous: Any, serial: int | None, wait: int) -> Any:
        if job_id not in self.jobs:
            raise JobLost(f"No such job: {job_id}")
        return [[self._status(job_id)], [entry for entry in self.log if entry[0] > (serial or 0)]]

    def _query_jobs(self, job_ids: list[int] | None, fields: list[str]) -> list[Any]:
        return [[self._field(int(job_id), field) for field in fields] for job_id in job_ids or self.jobs]

    def _field(self, job_id: int, field: str) -> Any:
        ops = self.jobs.get(job_id)
        if ops is None:
            return None
        outcomes = [self.results.get(op["OP_ID"]) for op in ops]
        failed = [isinstance(outcome, GanetiError) for outcome in outcomes]
        return {
            "status": self._status(job_id),
            "opstatus": ["error" if fails else "success" for fails in failed],
            "opresult": [encode_error(each) if isinstance(each, GanetiError) else each for each in outcomes],
        }[field]

    def _status(self, job_id: int) -> str:
        outcomes = [self.results.get(op["OP_ID"]) for op in self.jobs[job_id]]
        return "error" if any(isinstance(outcome, GanetiError) for outcome in outcomes) else "success"

    def _query_instances(self, names: list[str], fields: list[str], locking: bool) -> list[list[str]]:
        """Instances that are asked for by their names are there."""
        assert names and fields == ["name", "uuid"]
        return [[name, f"uuid of {name}"] for name in names]

    def _query_names(self, what: str, fields: list[str], condition: Any) -> dict[str, Any]:
        """Nothing has a name that somebody could have meant."""
        assert fields == ["name"] and condition is None, (what, fields, condition)
        return answer_of()

    _own: Mapping[str, Callable[..., Any]] = {
        "Query": _query_names,
        "QueryFields": lambda self, *_: answer_of(),
        "QueryInstances": _query_instances,
        "SubmitJob": _submit_job,
        "SubmitJobToDrainedQueue": _submit_job,
        "SubmitManyJobs": _submit_many_jobs,
        "WaitForJobChange": _wait_for_job_change,
        "QueryJobs": _query_jobs,
    }


class Outcome(NamedTuple):
    """What a run left behind."""

    status: int
    out: str
    err: str


class Terminal(io.StringIO):
    """Standard input at which somebody sits, or output that somebody reads."""

    def isatty(self) -> bool:
        """Questions may be asked."""
        return True


class CommandLine:
    """Runs programs against one fake master; `programs` holds the other programs that were run."""

    def __init__(self) -> None:
        self.client = FakeClient()
        self.environ = {"GANETI_HOSTNAME": "node1.example.com"}
        self.programs: list[tuple[list[str], bytes | None]] = []
        self.program_status = 0
        #: What programs do whose output is read, and with which commands they were called.
        self.answer: Callable[[Sequence[str]], tuple[int, str]] = lambda argv: (0, "")
        self.captured: list[list[str]] = []
        #: For how long commands have slept, which takes no time.
        self.slept: list[float] = []

    def __call__(
        self, program: str, *words: str, stdin: io.StringIO | None = None, out: io.StringIO | None = None
    ) -> Outcome:
        """Run one command line; its exit status and what it wrote."""
        out, err = out or io.StringIO(), io.StringIO()
        context = CommandContext(
            self.environ, out, err, stdin or io.StringIO(), lambda: self.client, self._run, capture=self._capture,
            sleep=self.slept.append,
        )  # fmt: skip
        status = run(program_named(program), words, context)
        return Outcome(status, out.getvalue(), err.getvalue())

    def _capture(self, argv: Sequence[str]) -> tuple[int, str]:
        self.captured.append(list(argv))
        return self.answer(argv)

    def _run(self, argv: Sequence[str], document: bytes | None) -> int:
        self.programs.append((list(argv), document))
        return self.program_status


def answer_of(*fields: tuple[str, str, str], rows: Sequence[Sequence[Any]] = ()) -> dict[str, Any]:
    """A query's answer: fields as (name, kind, title), rows of values; a tuple is a (status, value)."""
    return {
        "fields": [{"name": name, "kind": kind, "title": title, "doc": f"The {name}"} for name, kind, title in fields],
        "data": [[list(value) if isinstance(value, tuple) else [0, value] for value in row] for row in rows],
    }
