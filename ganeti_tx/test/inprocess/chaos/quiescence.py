"""What must be true when everybody has had time to come to rest: all is told truthfully, and nothing is stuck."""

from collections.abc import Iterator

from attrs import define

from ganeti_tx.config.ssconf import ssconf_values
from ganeti_tx.mastership.ballot import ssconf_master
from ganeti_tx.model.config_data import encode
from ganeti_tx.model.enums import AdminState
from ganeti_tx.queue.job import FINAL, QueuedJob, Status, decode_job
from ganeti_tx.test.inprocess.agreement import homes, identity
from ganeti_tx.test.inprocess.chaos.executions import Execution
from ganeti_tx.test.inprocess.chaos.invariants import Invariants
from ganeti_tx.test.inprocess.chaos.operators import SECRET, Accepted
from ganeti_tx.test.inprocess.node import SimulatedNode

#: What an opcode that succeeded makes of its instance.
EFFECTS = {
    "OP_INSTANCE_CREATE": "up",
    "OP_INSTANCE_STARTUP": "up",
    "OP_INSTANCE_REBOOT": "up",
    "OP_INSTANCE_SHUTDOWN": "down",
    "OP_INSTANCE_REMOVE": "absent",
}
UNKNOWN = "unknown"


@define(eq=False)
class Quiescence:
    """The cluster after its faults."""

    invariants: Invariants
    darkened: set[str]
    #: Whether what an old master did last may be lost with it.
    lossy: bool = False

    def check(self) -> None:
        """Everything; each fault that is found is a broken invariant."""
        for fault in [
            *self._jobs(),
            *self._masters(),
            *self._leftovers(),
            *self._copies(),
            *(() if self.lossy else self._tags()),
            *(() if self.lossy else self._instances()),
            *self._secrets(),
        ]:
            self.invariants.record.breach(f"at rest: {fault}")

    def job(self, job_id: int) -> QueuedJob | None:
        """A job by its file."""
        disk, paths = self.invariants.cluster.master.disk, self.invariants.cluster.paths
        for path in (paths.job_file(job_id), paths.archived_job_file(job_id)):
            if (found := disk.content(path)) is not None:
                return decode_job(found[0])
        return None

    # Jobs

    def _jobs(self) -> Iterator[str]:
        for job_id, accepted in self.invariants.operators.accepted.items():
            job = self.job(job_id)
            if job is None:
                yield f"job {job_id} was accepted and is not there"
                continue
            if job.status not in FINAL or job.end_timestamp is None:
                yield f"job {job_id} has not ended: {[str(op.status) for op in job.ops]}"
            for index in range(len(job.ops)):
                yield from self._told_truthfully(job, index, accepted)
            if accepted.canceled_at is not None and job.status is not Status.CANCELED:
                yield f"job {job_id} was canceled, and is {job.status}"
            if accepted.canceled_at is not None and self._begun_after(job, accepted.canceled_at):
                yield f"job {job_id} was canceled, and runs on"

    def _queued(self) -> Iterator[str]:
        """No job is stuck, also of those whose ids nobody has heard."""
        disk, queue = self.invariants.cluster.master.disk, self.invariants.cluster.paths.queue_dir
        for name in disk.names(queue):
            if name.startswith("job-") and (found := disk.content(queue / name)) is not None:
                job = decode_job(found[0])
                if not job.finalized:
                    yield f"{name} has not ended: {[str(op.status) for op in job.ops]}"

    def _begun_after(self, job: QueuedJob, moment: float) -> bool:
        return any(
            execution.owner.job_id == job.id and execution.at > moment for execution in self.invariants.executions.all
        )

    def _told_truthfully(self, job: QueuedJob, index: int, accepted: Accepted) -> Iterator[str]:
        execution, op = self.invariants.executions.of(job.id, index), job.ops[index]
        which = f"opcode {index} of job {job.id}"
        if op.status is Status.SUCCESS and (execution is None or not execution.succeeded):
            yield f"{which} claims success and was not done"
        stopped = accepted.kill_asked or (accepted.stop_asked and execution is not None and not execution.succeeded)
        if op.status is Status.CANCELED and execution is not None and not stopped:
            yield f"{which} is canceled and was begun"
        if (
            op.status is Status.ERROR
            and execution is not None
            and execution.succeeded
            and execution.done
            and self._lived(execution)
        ):
            yield f"{which} is in error and was done: {op.result}"
        if "internal error" in str(op.result):
            yield f"{which}: {op.result}"

    def _lived(self, execution: Execution) -> bool:
        """Whether the process of an execution still lives."""
        liveness = self.invariants.cluster.daemons[execution.node].liveness
        return execution.owner.livelock in {str(path) for path in liveness.living()}

    # Masters

    def _masters(self) -> Iterator[str]:
        """There is one, and all know it."""
        cluster = self.invariants.cluster
        masters = [name for name, each in cluster.daemons.items() if each.luxid_process.alive]
        if masters != [cluster.master.name]:
            yield f"the masters are {masters}"
        for node in cluster.members:
            if (followed := ssconf_master(node.disk, cluster.paths)) != cluster.master.name:
                yield f"{node.name} follows {followed}"

    # What is left over

    def _leftovers(self) -> Iterator[str]:
        cluster = self.invariants.cluster
        if not cluster.acting.wconfd_is_up:
            yield "wconfd does not run"
            return
        for lock in cluster.locks():
            if lock.owners or lock.pending:
                yield f"lock {lock}"
        if owners := cluster.wconfd.reservations.owners():
            yield f"reservations of {owners}"

    def _copies(self) -> Iterator[str]:
        """Every node has what it must have, and the master's memory is what its disk holds."""
        cluster = self.invariants.cluster
        config = cluster.config
        if not cluster.acting.wconfd_is_up:
            return
        found = cluster.master.disk.content(cluster.paths.config_file)
        if found is None or found[0] != encode(config):
            yield "wconfd's configuration is not that of its file"
        for node in cluster.members:
            for key, value in ssconf_values(config).items():
                held = node.disk.content(cluster.paths.ssconf_file(key))
                if held is None or held[0].decode().strip() != value.strip():
                    yield f"ssconf_{key} of {node.name}"
            if node is not cluster.master and self._is_candidate(node):
                yield from self._copies_on(node)

    def _is_candidate(self, node: SimulatedNode) -> bool:
        nodes = self.invariants.cluster.config.nodes.values()
        return any(each.name == node.name and each.master_candidate for each in nodes)

    def _copies_on(self, node: SimulatedNode) -> Iterator[str]:
        cluster = self.invariants.cluster
        path = cluster.paths.config_file
        if node.disk.content(path) is None or node.disk.content(path) != cluster.master.disk.content(path):
            yield f"the configuration of {node.name} is not the master's"
        queue = cluster.paths.queue_dir
        disks = node.disk, cluster.master.disk
        for name in sorted({name for disk in disks for name in disk.names(queue) if name.startswith("job-")}):
            copy, original = (disk.content(queue / name) for disk in disks)
            if copy != original:
                yield f"{name} of {node.name} is not the master's"

    def _secrets(self) -> Iterator[str]:
        for node in self.invariants.cluster.members:
            for path in node.disk.find(SECRET.encode()):
                yield f"{path} of {node.name} holds a secret"

    # Effects

    def _tags(self) -> Iterator[str]:
        config = self.invariants.cluster.config
        present = {*config.cluster.tags, *(tag for node in config.nodes.values() for tag in node.tags)}
        for job_id, accepted in self.invariants.operators.accepted.items():
            job = self.job(job_id)
            for index, raw in enumerate(accepted.ops):
                if job is None or raw["OP_ID"] != "OP_TAGS_SET":
                    continue
                (tag,) = raw["tags"]
                status = job.ops[index].status
                if status is Status.SUCCESS and tag not in present:
                    yield f"job {job_id} claims to have set {tag}"
                if self.invariants.executions.of(job_id, index) is None and tag in present:
                    yield f"{tag} is set and job {job_id}, which is {status}, never began with it"

    def expected(self) -> dict[str, str]:
        """What each instance must be: up, down, absent, or unknown after something that failed half-way."""
        states: dict[str, str] = {}
        for execution in self.invariants.executions.all:
            effect = EFFECTS.get(execution.op.op_id())
            name = getattr(execution.op, "instance_name", "").split(".")[0]
            job = self.job(execution.owner.job_id)
            success = job is not None and job.ops[execution.index].status is Status.SUCCESS
            if execution.op.op_id() == "OP_INSTANCE_MOVE" and not success:
                states[name] = UNKNOWN
            if effect is None:
                continue
            if not success and self._taken_back(execution):
                states.setdefault(name, "absent")
                continue
            states[name] = effect if success else UNKNOWN
        return states

    def tells_of_leftovers(self) -> bool:
        """Whether a job says that it could not take something back."""
        jobs = [self.job(job_id) for job_id in self.invariants.operators.accepted]
        told = "".join(f"{op.result} {op.log}" for job in jobs if job is not None for op in job.ops)
        return any(words in told for words in ("could not undo", "could not be taken back", "could not remove disk"))

    def _taken_back(self, execution: Execution) -> bool:
        """Whether a creation failed, or its process died in its midst, and nothing of it must be left, as its job tells of
        nothing.
        """
        job = self.job(execution.owner.job_id)
        if execution.op.op_id() != "OP_INSTANCE_CREATE" or job is None:
            return False
        op = job.ops[execution.index]
        told = f"{op.result} {op.log}"
        over = "taken back" in told or (
            execution.done and not execution.succeeded
        )  # else it may have died when all was done
        return (
            op.status in FINAL
            and over
            and not any(words in told for words in ("could not undo", "could not be taken back", "so that it stays"))
        )

    def _instances(self) -> Iterator[str]:
        cluster = self.invariants.cluster
        configured = {each.name.split(".")[0]: each for each in cluster.config.instances.values()}
        running = [name.split(".")[0] for names in cluster.running().values() for name in names]
        if len(running) != len(set(running)):
            yield f"an instance runs twice: {cluster.running()}"
        if strays := set(running) - configured.keys():
            yield f"{sorted(strays)} run and are not configured"
        for name, state in self.expected().items():
            instance = configured.get(name)
            if state == UNKNOWN:
                continue
            if (instance is None) != (state == "absent"):
                yield f"{name} must be {state} and is {'not ' if instance is None else ''}configured"
            elif instance is not None:
                if (instance.admin_state is AdminState.UP) != (state == "up"):
                    yield f"{name} must be {state} and is configured as {instance.admin_state}"
                home = cluster.config.nodes[instance.primary_node].name
                if (name in running) != (state == "up") and home not in self.darkened:
                    yield f"{name} must be {state} and {'runs' if name in running else 'does not run'} on {home}"
        yield from self._disks(configured.keys())
        yield from self._missing()

    def _disks(self, configured: object) -> Iterator[str]:
        """Disks that no instance uses are left only by creations and removals that broke half-way."""
        cluster = self.invariants.cluster
        configured_disks = [each for disk in cluster.config.disks.values() for each in (disk, *disk.children)]
        used = {"/".join(map(str, disk.logical_id or [])) for disk in configured_disks}
        states = self.expected()
        left = {disk for disks in cluster.disks().values() for disk in disks} - used
        if left and UNKNOWN not in states.values() and not self._broke() and not self.tells_of_leftovers():
            yield f"disks that nobody uses: {sorted(left)}"

    def _missing(self) -> Iterator[str]:
        """No instance has lost a disk but by a removal, or a creation, that broke half-way."""
        cluster, states = self.invariants.cluster, self.expected()
        for instance in cluster.config.instances.values():
            if states.get(instance.name.split(".")[0]) in ("up", "down"):
                for disk in map(cluster.config.disks.__getitem__, instance.disks):
                    for home, part in homes(cluster, disk):
                        if identity(part) not in cluster.disks().get(home, ()):
                            yield f"{instance.name} has lost disk {identity(part)} ({home})"

    def _broke(self) -> bool:
        """Whether some job broke off after it had begun."""
        return any(
            not execution.succeeded and not self._taken_back(execution) for execution in self.invariants.executions.all
        )
