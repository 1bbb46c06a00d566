"""The invariants that must hold once all is calm; each function gives the violations it finds, as sentences."""

import json
import time
from collections.abc import Callable, Iterator

from ganeti_tx.config.upgrade import read_config
from ganeti_tx.errors import GanetiError
from ganeti_tx.luxi.client import Client
from ganeti_tx.model.config_data import ConfigData
from ganeti_tx.queue.job import QueuedJob, Status, decode_job
from ganeti_tx.runtime.pidfile import was_abandoned
from ganeti_tx.test.chaos.cluster import CampaignCluster
from ganeti_tx.test.chaos.history import Expected, State, expected, operations
from ganeti_tx.test.chaos.observer import Observations

#: Seconds that copies, and the removal of what the dead left, may take when all is calm.
SETTLING = 60.0
#: Words that no log may hold.
FAULTS = ("Traceback", "Unhandled", "internal error")
MAX_EXCERPT = 25


def soon(check: Callable[[], list[str]]) -> list[str]:
    """What a check finds, at the latest when things had time to settle."""
    deadline = time.monotonic() + SETTLING
    while (found := check()) and time.monotonic() < deadline:
        time.sleep(0.5)
    return found


def read_jobs(cluster: CampaignCluster) -> dict[int, QueuedJob]:
    """Every job of the queue and the archive. @raise GanetiError: a file is no job."""
    paths = cluster.paths(cluster.master)
    files = [*paths.queue_dir.glob("job-*"), *paths.queue_archive_dir.glob("*/job-*")]
    jobs = [decode_job(path.read_bytes()) for path in files]
    return {job.id: job for job in jobs}


def check_jobs(jobs: dict[int, QueuedJob], accepted: set[int], seen: Observations) -> list[str]:
    """No accepted job is lost; each ended once and stayed so; its log was written in order."""
    found = [f"job {job_id} was accepted and is lost" for job_id in sorted(accepted - set(jobs))]
    for job in jobs.values():
        if not job.finalized or job.end_timestamp is None:
            found.append(f"job {job.id} has not ended: {job.status}, {[op.status.value for op in job.ops]}")
        serials = sorted(entry[0] for op in job.ops for entry in op.log)
        if len(set(serials)) != len(serials):
            found.append(f"job {job.id} has log entries with the same serial number: {serials}")
        for op in job.ops:
            if [entry[0] for entry in op.log] != sorted(entry[0] for entry in op.log):
                found.append(f"the log of job {job.id} is out of order")
            if op.status is Status.ERROR and not op.result:
                found.append(f"job {job.id} is an error without a reason")
    for job_id, last in seen.jobs.items():
        final = [status for status in last.statuses if status in ("success", "error", "canceled")]
        if job_id in jobs and len(final) == len(last.statuses):
            now = [op.status.value for op in jobs[job_id].ops]
            if now != last.statuses:
                found.append(f"job {job_id} ended as {last.statuses}, and its file says {now}")
    return found


def check_locks(cluster: CampaignCluster) -> list[str]:
    """Nobody holds or waits for a lock, or keeps a reservation."""
    found = []
    try:
        with Client(cluster.socket) as client:
            rows = client.query("lock", ["name", "mode", "owner", "pending"])["data"]
        found += [f"lock {row} is held or waited for by nobody that lives" for row in rows]
    except GanetiError as error:
        found.append(f"the locks cannot be asked for: {error}")
    data_dir = cluster.paths(cluster.master).data_dir
    for name in ("locks.data", "tempres.data"):
        path = data_dir / name
        if path.exists() and (content := json.loads(path.read_bytes() or b"null")):
            found.append(f"{name} still holds {content}")
    return found


def check_copies(cluster: CampaignCluster) -> list[str]:
    """Every candidate has the same configuration and the same queue as the master."""
    found = []
    master = cluster.paths(cluster.master)
    queue = {path.name: path.read_bytes() for path in master.queue_dir.glob("job-*")}
    config = read_config(master.config_file.read_bytes()).config
    candidates = {node.name for node in config.nodes.values() if node.master_candidate and not node.offline}
    for node in cluster.layout.nodes[1:]:
        paths = cluster.paths(node)
        if node.name not in candidates:
            continue
        if not paths.config_file.exists():
            found.append(f"{node.name} has no configuration")
            continue
        if paths.config_file.read_bytes() != master.config_file.read_bytes():
            found.append(f"config.data of {node.name} (serial {cluster.serial(node)}) is not the master's")
        copies = {path.name: path.read_bytes() for path in paths.queue_dir.glob("job-*")}
        if copies != queue:
            different = sorted(name for name in {*copies, *queue} if copies.get(name) != queue.get(name))
            found.append(f"the queue of {node.name} is not the master's: {different[:8]} ({len(different)})")
    return found


def check_instances(cluster: CampaignCluster, jobs: dict[int, QueuedJob]) -> list[str]:
    """Each instance is as the jobs on it made it, in the configuration and on the hypervisor."""
    config = read_config(cluster.paths(cluster.master).config_file.read_bytes()).config
    expectations = {name: expected(name, done) for name, done in operations(jobs.values()).items()}
    running = dict(running_instances(cluster))
    found = [violation for each in expectations.values() for violation in each.violations]
    for name in sorted({*expectations, *running, *(instance.name for instance in config.instances.values())}):
        found += check_instance(name, config, running.get(name, []), expectations.get(name, expected(name, ())))
    return found


def check_instance(name: str, config: ConfigData, running: list[str], wanted: Expected) -> list[str]:
    """One instance."""
    instance = next((each for each in config.instances.values() if each.name == name), None)
    state = State.ABSENT if instance is None else State(instance.admin_state.value)
    found = []
    last = f"its last job was {wanted.last}"
    if state not in wanted.states:
        found.append(f"{name} is {state}, and should be {'/'.join(sorted(wanted.states))}; {last}")
    if instance is None:
        return found + [f"{name} runs on {node}, but is no instance; {last}" for node in running]
    home = config.nodes[instance.primary_node].name
    found += [f"{name} runs on {node}, and its primary node is {home}; {last}" for node in running if node != home]
    if wanted.last is not None and wanted.last.succeeded and bool(running) != (state is State.UP):
        found.append(f"{name} is {state}, and {'runs' if running else 'does not run'}; {last}")
    return found


def running_instances(cluster: CampaignCluster) -> Iterator[tuple[str, list[str]]]:
    """Each instance that runs on the fake hypervisors, with its nodes."""
    where: dict[str, list[str]] = {}
    for node in cluster.layout.nodes:
        for path in (cluster.paths(node).run_dir / "fake-hypervisor").glob("[!.]*"):
            where.setdefault(path.name, []).append(node.name)
    yield from where.items()


def check_leftovers(cluster: CampaignCluster) -> list[str]:
    """No livelock of a dead process, no temporary file that nobody will rename, no core."""
    found = []
    for node in cluster.layout.nodes:
        paths = cluster.paths(node)
        found += [f"{path} belongs to a dead process" for path in paths.livelock_dir.glob("*") if was_abandoned(path)]
        for directory in (paths.data_dir, paths.run_dir):
            found += [f"{path} is left over" for path in directory.rglob(".*") if path.suffix in (".tmp", ".new")]
        found += [
            f"{path} is a core"
            for path in paths.root.rglob("core*")
            if path.is_file() and path.name[4:].strip(".0123456789") == ""
        ]
    return found


def check_logs(cluster: CampaignCluster) -> list[str]:
    """No log tells of a fault of the program's own."""
    found = []
    logs = [path for node in cluster.layout.nodes for path in cluster.paths(node).log_dir.rglob("*.log")]
    for path in (*logs, cluster.layout.root / "supervisor.log"):
        lines = path.read_text(errors="replace").splitlines()
        for number, line in enumerate(lines):
            if any(word in line for word in FAULTS):
                excerpt = "\n    ".join(lines[max(0, number - 2) : number + MAX_EXCERPT])
                found.append(f"{path}:{number + 1} tells of a fault:\n    {excerpt}")
    return found
