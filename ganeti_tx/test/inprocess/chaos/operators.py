"""What operators ask of the cluster: jobs that meet, cancels, priorities, archiving; each by a client of its own."""

from collections.abc import Awaitable, Callable, Sequence
from random import Random
from typing import Any

from attrs import define, field
from twisted.internet.defer import Deferred

from ganeti_tx.errors import GanetiError
from ganeti_tx.luxi.async_client import AsyncClient
from ganeti_tx.luxi.on_twisted import client
from ganeti_tx.test.inprocess.chaos.record import Record
from ganeti_tx.test.inprocess.cluster import InProcessCluster
from ganeti_tx.test.inprocess.node import OS_NAME

Op = dict[str, Any]

WITHOUT_MINORS = ("file", "sharedfile", "diskless")
TEMPLATES = (*WITHOUT_MINORS, "drbd")
NAMES = ("web1", "web2", "web3")
#: A parameter that no file may hold.
SECRET = "hushhush"
#: Seconds within which operators have asked for everything.
BUSY = 12.0


@define(eq=False)
class Accepted:
    """A job that somebody was promised, and what else was said about it."""

    ops: list[Op]
    #: The nodes on whose disks it was then.
    copies: set[str]
    canceled_at: float | None = None
    stop_asked: bool = False
    kill_asked: bool = False


@define(eq=False)
class Operators:
    """They act at moments from the seed; what could not be answered was not promised."""

    cluster: InProcessCluster
    chance: Random
    record: Record
    #: Whether they also change disks, move data and convert; then they mostly mean instances that somebody asked for.
    changes: bool = False
    accepted: dict[int, Accepted] = field(factory=dict)
    _process: Any = None
    _terminals: dict[str, Any] = field(factory=dict)
    _tags: int = 0

    def begin(self, actions: int) -> None:
        """Plan the day."""
        self._process = self.cluster.new_process("operator")
        things: list[Callable[[], Awaitable[None]]] = [
            *[self.create] * 4, *[self.power] * 3, *[self.move] * 2, *[self.remove] * 2, *[self.tag] * 2, *[self.delay] * 2,
            *[self.several] * 2, self.chain, *[self.cancel] * 3, *[self.kill] * 2, self.priority, self.archive, self.look,
        ]  # fmt: skip
        if self.changes:
            things += [*[self.disks] * 3, *[self.relocate] * 2, self.convert]
        self.act_at(0.0, self.create)
        for _ in range(actions):
            self.act_at(self.chance.random() * BUSY, self.chance.choice(things))

    def act_at(self, delay: float, action: Callable[[], Awaitable[None]]) -> None:
        """Have something done after so many seconds."""
        self._process.callLater(delay, lambda: self._act(action))

    def _act(self, action: Callable[[], Awaitable[None]]) -> None:
        acting = Deferred.fromCoroutine(self._try(action))
        acting.addErrback(lambda failure: self.record.breach(f"a client broke: {failure.getTraceback()}"))

    async def _try(self, action: Callable[[], Awaitable[None]]) -> None:
        try:
            await action()
        except GanetiError as error:
            self.record.tell(f"an operator is told: {type(error).__name__}: {error}")
            if "nternal error" in str(error) or "Traceback" in str(error):
                self.record.breach(f"an operator is told: {error}")

    async def ask(self, question: Callable[[AsyncClient], Awaitable[Any]]) -> Any:
        """Ask over a new connection."""
        luxi = client(self._at_the_master(), str(self.cluster.paths.query_socket))
        try:
            return await question(luxi)
        finally:
            luxi.close()

    def _at_the_master(self) -> Any:
        """Operators are where the master is."""
        name = self.cluster.master.name
        if name not in self._terminals:
            self._terminals[name] = self.cluster.acting.new_process("operator")
        return self._terminals[name]

    async def submit(self, *jobs: list[Op]) -> list[int]:
        """Submit jobs; the ids of those that were taken."""
        what = "; ".join(",".join(op["OP_ID"].removeprefix("OP_") for op in ops) for ops in jobs)
        answers = await self.ask(lambda luxi: luxi.submit_many_jobs(list(jobs)))
        taken = []
        for ops, (ok, answer) in zip(jobs, answers, strict=True):
            if ok:
                self.accepted[answer] = Accepted(ops, self._copies(answer))
                taken.append(answer)
        self.record.tell(f"submitted {what}: {answers}")
        return taken

    def _copies(self, job_id: int) -> set[str]:
        path = self.cluster.paths.job_file(job_id)
        return {node.name for node in self.cluster.members if node.disk.content(path) is not None}

    # Opcodes

    def opcode(self, op_id: str, **params: Any) -> Op:
        """One with an urgency by chance."""
        return {"OP_ID": op_id, "reason": [], "priority": self.chance.choice([0, 0, 0, -10, 10]), **params}

    def creation(self, name: str, node: int, templates: Sequence[str] = TEMPLATES) -> Op:
        """Make an instance."""
        template = self.chance.choice(templates)
        disks = [] if template == "diskless" else [{"size": 1024}]
        secrets = {"osparams_secret": {"flavour": SECRET}} if self.chance.random() < 0.2 else {}
        second = {"snode": f"node{node % self.cluster.size + 1}"} if template == "drbd" else {}
        return self.opcode(
            "OP_INSTANCE_CREATE", instance_name=name, disk_template=template, disks=disks, mode="create", nics=[{}],
            pnode=f"node{node}", os_type=OS_NAME, **secrets, **second,
        )  # fmt: skip

    def tagging(self, kind: str = "cluster", name: str | None = None) -> Op:
        """Set a tag that nobody else sets."""
        self._tags += 1
        return self.opcode("OP_TAGS_SET", kind=kind, name=name, tags=[f"t{self._tags}"])

    def _node(self) -> int:
        return self.chance.randint(1, self.cluster.size)

    def _name(self) -> str:
        if not self.changes:
            return self.chance.choice(NAMES)
        made = {op["instance_name"] for each in self.accepted.values() for op in each.ops if "pnode" in op}
        return self.chance.choice(sorted(made) if made and self.chance.random() < 0.8 else NAMES)

    # Actions

    async def create(self) -> None:
        """Make an instance, one of a few, so that they meet."""
        await self.submit([self.creation(self.chance.choice(NAMES), self._node())])

    async def power(self) -> None:
        """Start, stop or restart one."""
        op_id = self.chance.choice(["OP_INSTANCE_STARTUP", "OP_INSTANCE_SHUTDOWN", "OP_INSTANCE_REBOOT"])
        more = {"reboot_type": "hard"} if op_id == "OP_INSTANCE_REBOOT" else {}
        await self.submit([self.opcode(op_id, instance_name=self._name(), **more)])

    async def move(self) -> None:
        """Bring one to another node, running or not."""
        op_id, name = self.chance.choice(["OP_INSTANCE_MIGRATE", "OP_INSTANCE_FAILOVER"]), self._name()
        where = {"target_node": f"node{self._node()}"} if self.chance.random() < 0.7 else {}
        await self.submit([self.opcode(op_id, instance_name=name, **where)])

    async def disks(self) -> None:
        """Give one another disk, take one from it, make one larger, or have its copies made anew."""
        name, add, remove = self._name(), ["add", -1, {"size": 512}], ["remove", -1, {}]
        changes = self.chance.choice([[add], [remove], [["remove", 0, {}], add]])
        mode = self.chance.choice(["replace_on_primary", "replace_on_secondary", "replace_new_secondary"])
        remote = {"remote_node": f"node{self._node()}"} if mode == "replace_new_secondary" else {}
        await self.submit([self.chance.choice([
            self.opcode("OP_INSTANCE_SET_PARAMS", instance_name=name, disks=changes, hotplug_if_possible=True),
            self.opcode("OP_INSTANCE_GROW_DISK", instance_name=name, disk=0, amount=256),
            self.opcode("OP_INSTANCE_REPLACE_DISKS", instance_name=name, mode=mode, **remote),
        ])])  # fmt: skip

    async def relocate(self) -> None:
        """Move one with its data."""
        name = self._name()
        await self.submit([self.opcode("OP_INSTANCE_MOVE", instance_name=name, target_node=f"node{self._node()}")])

    async def convert(self) -> None:
        """Stop one, and give its disks another template."""
        name, template = self._name(), self.chance.choice(["file", "sharedfile", "drbd"])
        second = {"remote_node": f"node{self._node()}"} if template == "drbd" else {}
        await self.submit([
            self.opcode("OP_INSTANCE_SHUTDOWN", instance_name=name),
            self.opcode("OP_INSTANCE_SET_PARAMS", instance_name=name, disk_template=template, **second),
            self.opcode("OP_INSTANCE_STARTUP", instance_name=name),
        ])  # fmt: skip

    async def remove(self) -> None:
        """Remove one."""
        await self.submit([self.opcode("OP_INSTANCE_REMOVE", instance_name=self._name())])

    async def tag(self) -> None:
        """Tag the cluster, or a node."""
        await self.submit([self.tagging()], [self.tagging("node", f"node{self._node()}")])

    async def delay(self) -> None:
        """Keep a node's lock for a while."""
        seconds = self.chance.choice([0.0, 0.5, 3.0])
        op = self.opcode("OP_TEST_DELAY", duration=seconds, on_nodes=[f"node{self._node()}"], no_locks=False)
        await self.submit([op])

    async def several(self) -> None:
        """A job of several opcodes."""
        name = self.chance.choice(NAMES)
        other = [self.creation(name, self._node())] if self.chance.random() < 0.5 else []
        await self.submit([self.tagging(), *other, self.opcode("OP_TEST_DELAY", duration=0.2), self.tagging()])

    async def chain(self) -> None:
        """Jobs that depend on one another."""
        after = {**self.tagging(), "depends": [[-1, [self.chance.choice(["success", "error"])]]]}
        await self.submit([self.opcode("OP_TEST_DELAY", duration=0.5)], [after])

    def _some_job(self) -> int | None:
        return self.chance.choice(sorted(self.accepted)[-4:]) if self.accepted else None

    async def cancel(self) -> None:
        """Cancel a job."""
        await self._cancel(False)

    async def kill(self) -> None:
        """Kill a job."""
        await self._cancel(True)

    async def _cancel(self, kill: bool) -> None:
        job_id = self._some_job()
        if job_id is None:
            return
        accepted = self.accepted[job_id]
        accepted.stop_asked, accepted.kill_asked = True, accepted.kill_asked or kill
        done, text = await self.ask(lambda luxi: luxi.cancel_job(job_id, kill))
        if text == f"Job {job_id} canceled":
            accepted.canceled_at = self.cluster.time.rightNow
        self.record.tell(f"cancel {job_id} (kill: {kill}): {done}, {text}")

    async def priority(self) -> None:
        """Make a job urgent."""
        job_id = self._some_job()
        if job_id is not None:
            priority = self.chance.choice([-20, -10, 5, 19])
            answer = await self.ask(lambda luxi: luxi.change_job_priority(job_id, priority))
            self.record.tell(f"priority of {job_id}: {answer}")

    async def archive(self) -> None:
        """Archive a job, or all that have ended."""
        job_id = self._some_job()
        if job_id is not None and self.chance.random() < 0.5:
            answer = await self.ask(lambda luxi: luxi.archive_job(job_id))
            self.record.tell(f"archive {job_id}: {answer}")
        else:
            self.record.tell(f"autoarchive: {await self.ask(lambda luxi: luxi.auto_archive_jobs(-1))}")

    async def look(self) -> None:
        """Look at the jobs."""
        await self.ask(lambda luxi: luxi.query_jobs(None, ["id", "status", "priority"]))
