"""Clients that keep a cluster busy with everything it can do, and note what they were wanted."""

import threading
import time
from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any

from attrs import define, field

from ganeti_tx.errors import GanetiError
from ganeti_tx.luxi.client import Client
from ganeti_tx.luxi.transport_errors import ProtocolError

Op = dict[str, Any]
#: Names of instances; few, so that jobs meet.
INSTANCES = [f"vm{number}.dev.example" for number in range(12)]
#: Jobs of one client that are not known to have ended before it waits a little.
MAX_OPEN = 15
#: Seconds that a client pauses at most between two requests.
PAUSE = 0.5
#: Seconds for which one waits for an answer: a stopped or busy master answers late.
ANSWER = 60.0
CREATE, REMOVE = "OP_INSTANCE_CREATE", "OP_INSTANCE_REMOVE"
STARTUP, SHUTDOWN, REBOOT = "OP_INSTANCE_STARTUP", "OP_INSTANCE_SHUTDOWN", "OP_INSTANCE_REBOOT"


@define
class LoadRecord:
    """The ids that clients were given, and how many requests of each kind were made. Shared by all clients."""

    accepted: set[int] = field(factory=set)
    canceled: set[int] = field(factory=set)
    counts: Counter[str] = field(factory=Counter)
    refusals: Counter[str] = field(factory=Counter)
    lock: threading.Lock = field(factory=threading.Lock)

    def add(self, kind: str, job_ids: list[int]) -> None:
        """Jobs were accepted."""
        with self.lock:
            self.accepted.update(job_ids)
            self.counts[kind] += 1

    def refuse(self, error: GanetiError) -> None:
        """The cluster said no, or nothing."""
        with self.lock:
            self.refusals[type(error).__name__] += 1


class LoadClient(threading.Thread):
    """One client, whose wishes follow from its seed."""

    def __init__(self, socket: str, nodes: list[str], seed: str, record: LoadRecord, roles: bool) -> None:
        super().__init__(daemon=True, name=seed)
        self._client = Client(socket, io_timeout=ANSWER, answer_timeout=ANSWER)
        self._nodes = nodes
        self._random = Random(seed)
        self._record = record
        self._mine: list[int] = []
        self._enough = threading.Event()
        self._wishes: list[tuple[int, str, Callable[[], object]]] = [
            (10, "create", lambda: self._submit("create", [self._create()])),
            (5, "remove", lambda: self._submit("remove", [self._on_instance(REMOVE, ignore_failures=False)])),
            (9, "startup", lambda: self._submit("startup", [self._startup()])),
            (7, "shutdown", lambda: self._submit("shutdown", [self._on_instance(SHUTDOWN)])),
            (4, "reboot", lambda: self._submit("reboot", [self._on_instance(REBOOT, reboot_type="hard")])),
            (10, "tags", lambda: self._submit("tags", [self._tags()])),
            (10, "delay", lambda: self._submit("delay", [self._delay()])),
            (8, "several opcodes", self._several),
            (6, "dependencies", self._dependent),
            (3, "many jobs", self._many),
            (8, "cancel", lambda: self._cancel(False)),
            (5, "kill", lambda: self._cancel(True)),
            (5, "priority", self._prioritize),
            (3, "archive", self._archive),
            (4, "questions", self._ask),
        ]
        if roles:
            self._wishes.append((2, "node roles", lambda: self._submit("node roles", [self._role()])))

    def run(self) -> None:
        """Wish until told to stop."""
        weights = [weight for weight, _, _ in self._wishes]
        while not self._enough.is_set():
            _, _, wish = self._random.choices(self._wishes, weights)[0]
            try:
                wish()
                self._rest()
            except ProtocolError as error:
                self._record.refuse(error)
                self._enough.wait(0.3)
            except GanetiError as error:
                self._record.refuse(error)
            self._enough.wait(self._random.uniform(0, PAUSE))
        self._client.close()

    def stop(self) -> None:
        """No more wishes."""
        self._enough.set()

    def _rest(self) -> None:
        """Do not let more jobs pile up than the cluster gets done."""
        while len(self._mine) > MAX_OPEN and not self._enough.is_set():
            rows = self._client.query_jobs(self._mine, ["id", "status"])
            self._mine = [row[0] for row in rows if row and row[1] not in (None, "success", "error", "canceled")]
            if len(self._mine) > MAX_OPEN:
                self._enough.wait(0.5)

    def _submit(self, kind: str, ops: list[Op]) -> int:
        job_id = self._client.submit_job([{"reason": [], **op} for op in ops])
        self._record.add(kind, [job_id])
        self._mine.append(job_id)
        return job_id

    # Opcodes

    def _create(self) -> Op:
        file = self._random.random() < 0.3
        return {
            "OP_ID": CREATE,
            "instance_name": self._random.choice(INSTANCES),
            "mode": "create",
            "disk_template": "file" if file else "diskless",
            "disks": [{"size": 1}] if file else [],
            "nics": [{}],
            "hypervisor": "fake",
            "pnode": self._random.choice(self._nodes),
            "os_type": "busybox+default",
            "no_install": True,
            "start": False,
            "name_check": False,
            "ip_check": False,
            "ignore_ipolicy": True,
            "beparams": {"maxmem": 1, "minmem": 1},
        }

    def _on_instance(self, op_id: str, **more: Any) -> Op:
        return {"OP_ID": op_id, "instance_name": self._random.choice(INSTANCES), **more}

    def _startup(self) -> Op:
        return self._on_instance(STARTUP)

    def _role(self) -> Op:
        """Offline more seldom than online again; never the master."""
        node = self._random.choice(self._nodes[1:])
        return {"OP_ID": "OP_NODE_SET_PARAMS", "node_name": node, "offline": self._random.random() < 0.3}

    def _tags(self) -> Op:
        kind, name = self._random.choice(
            [
                ("cluster", None),
                ("node", self._random.choice(self._nodes)),
                ("instance", self._random.choice(INSTANCES)),
            ]
        )
        op_id = self._random.choice(["OP_TAGS_SET", "OP_TAGS_DEL"])
        return {"OP_ID": op_id, "kind": kind, "name": name, "tags": [f"tag{self._random.randrange(5)}"]}

    def _delay(self) -> Op:
        nodes = self._random.sample(self._nodes, self._random.randrange(len(self._nodes) + 1))
        return {
            "OP_ID": "OP_TEST_DELAY",
            "duration": self._random.uniform(0, 1.5),
            "on_nodes": nodes,
            "no_locks": self._random.random() < 0.3,
        }

    # Requests

    def _several(self) -> None:
        makers = [self._delay, self._tags, self._startup, self._create, lambda: self._on_instance(SHUTDOWN)]
        self._submit("several opcodes", [self._random.choice(makers)() for _ in range(self._random.randint(2, 5))])

    def _dependent(self) -> None:
        first = self._submit("dependencies", [self._delay()])
        ends = self._random.choice([["success"], ["success", "error", "canceled"], ["error"], []])
        self._submit("dependencies", [{**self._tags(), "depends": [[first, ends]]}])

    def _many(self) -> None:
        ops = [[{"reason": [], **self._delay(), "priority": self._random.choice([-10, 0, 10])}] for _ in range(4)]
        answers = self._client.submit_many_jobs(ops)
        accepted = [answer[1] for answer in answers if answer[0]]
        self._record.add("many jobs", accepted)
        self._mine += accepted

    def _one_of_mine(self) -> int | None:
        return self._random.choice(self._mine) if self._mine else None

    def _cancel(self, kill: bool) -> None:
        if (job_id := self._one_of_mine()) is not None:
            self._client.cancel_job(job_id, kill)
            self._record.add("kill" if kill else "cancel", [])

    def _prioritize(self) -> None:
        if (job_id := self._one_of_mine()) is not None:
            self._client.change_job_priority(job_id, self._random.choice([-20, -10, 0, 10, 19]))
            self._record.add("priority", [])

    def _archive(self) -> None:
        if (job_id := self._one_of_mine()) is not None and self._random.random() < 0.9:
            self._client.archive_job(job_id)
        else:
            self._client.auto_archive_jobs(20, 1)
        self._record.add("archive", [])

    def _ask(self) -> None:
        self._client.query_instances([], ["name", "status", "pnode"])
        self._client.query_tags("cluster")
        self._record.add("questions", [])


def start_clients(
    socket: str, nodes: list[str], seed: int, count: int, *, roles: bool = True
) -> tuple[list[LoadClient], LoadRecord]:
    """So many clients at once; nodes keep their roles if no client shall change them."""
    record = LoadRecord()
    clients = [LoadClient(socket, nodes, f"client {number} of {seed}", record, roles) for number in range(count)]
    for client in clients:
        client.start()
    return clients, record


def stop_clients(clients: list[LoadClient]) -> None:
    """No more requests from now on."""
    for client in clients:
        client.stop()
    deadline = time.monotonic() + 2 * ANSWER
    for client in clients:
        client.join(max(0.0, deadline - time.monotonic()))
