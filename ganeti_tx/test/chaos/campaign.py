"""bench/chaos: breaks a devcluster under load according to a seed, and says whether it kept its record."""

import argparse
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from attrs import define, field

from ganeti_tx.devcluster.error import DevclusterError
from ganeti_tx.errors import GanetiError
from ganeti_tx.luxi.client import Client
from ganeti_tx.test.chaos import checks
from ganeti_tx.test.chaos.cluster import CampaignCluster
from ganeti_tx.test.chaos.faults import FaultInjector
from ganeti_tx.test.chaos.load import LoadRecord, start_clients, stop_clients
from ganeti_tx.test.chaos.observer import Observations, Observer, wait_for_calm
from ganeti_tx.test.chaos.schedule import plan

CLIENTS = 4
#: Seconds for the jobs under way to end when nothing is broken any more.
CALM_LIMIT = 180.0


@define
class Outcome:
    """The figures of a campaign."""

    kills: Counter[str] = field(factory=Counter)
    requests: Counter[str] = field(factory=Counter)
    refusals: Counter[str] = field(factory=Counter)
    ends: Counter[str] = field(factory=Counter)
    accepted: int = 0
    violations: list[str] = field(factory=list)


def campaign(cluster: CampaignCluster, seed: int, seconds: float, kills: int) -> Outcome:
    """Load and faults, then calm and the checks."""
    start = time.monotonic()

    def say(text: str) -> None:
        print(f"{time.monotonic() - start:7.2f} {text}", flush=True)

    schedule = plan(seed, seconds, kills, cluster.disks)
    say(
        f"{len(schedule)} faults in {seconds:.0f} s; "
        + ("disks can be filled" if cluster.disks else "no disk is filled")
    )
    nodes = [node.name for node in cluster.layout.nodes]
    clients, record = start_clients(cluster.socket, nodes, seed, CLIENTS)
    observer = Observer(cluster, lambda: set(record.accepted))
    observer.start()
    faults = FaultInjector(cluster, say)
    try:
        before = 0.0
        for planned in schedule:
            ahead = start + planned.at - time.monotonic()
            time.sleep(
                max(ahead, (planned.at - before) / 2)
            )  # who waited for a victim hurries, but leaves time to live
            faults.strike(planned)
            before = planned.at
    finally:
        faults.finish()
        stop_clients(clients)
    say("all is done; waiting for calm")
    bring_back(cluster, record)
    unrest = wait_for_calm(cluster, record.accepted, CALM_LIMIT)
    say("calm" if not unrest else unrest[0])
    outcome = Outcome(faults.counts, record.counts, record.refusals, accepted=len(record.accepted))
    outcome.violations = [*unrest, *check_all(cluster, record, observer.stop(), outcome)]
    return outcome


def bring_back(cluster: CampaignCluster, record: LoadRecord) -> None:
    """Have every node be a master candidate again; tried until the master takes it."""
    ops = [
        {"OP_ID": "OP_NODE_SET_PARAMS", "reason": [], "node_name": node.name, "offline": False, "auto_promote": True}
        for node in cluster.layout.nodes[1:]
    ]
    deadline = time.monotonic() + CALM_LIMIT
    while time.monotonic() < deadline:
        try:
            with Client(cluster.socket) as client:
                record.add("node roles", [client.submit_job([op]) for op in ops])
            return
        except GanetiError:
            time.sleep(0.5)


def check_all(cluster: CampaignCluster, record: LoadRecord, seen: Observations, outcome: Outcome) -> list[str]:
    """Every violation."""
    try:
        jobs = checks.read_jobs(cluster)
    except GanetiError as error:
        return [*seen.violations, f"the queue cannot be read: {error}"]
    outcome.ends = Counter(job.status.value for job in jobs.values())
    return [
        *seen.violations,
        *checks.check_jobs(jobs, record.accepted, seen),
        *checks.soon(lambda: checks.check_locks(cluster)),
        *checks.soon(lambda: checks.check_copies(cluster)),
        *checks.check_instances(cluster, jobs),
        *checks.soon(lambda: checks.check_leftovers(cluster)),
        *checks.check_logs(cluster),
    ]


def report(outcome: Outcome) -> None:
    """Print the figures."""

    def line(what: str, counts: Counter[str]) -> None:
        print(
            f"{what:10} {sum(counts.values()):6}  "
            + ", ".join(f"{count} {name}" for name, count in counts.most_common())
        )

    line("faults", outcome.kills)
    line("requests", outcome.requests)
    line("refusals", outcome.refusals)
    line("jobs", outcome.ends)
    print(f"{'accepted':10} {outcome.accepted:6}")
    for violation in outcome.violations:
        print(f"VIOLATION: {violation}")
    print(f"{'violations':10} {len(outcome.violations):6}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one campaign; status 1 when an invariant was broken."""
    parser = argparse.ArgumentParser(prog="bench/chaos", description=__doc__)
    parser.add_argument("--seed", type=int, default=None, help="replays a schedule (default: a new one)")
    parser.add_argument("--minutes", type=float, default=1.0, help="how long things are broken (default: %(default)s)")
    parser.add_argument("--kills", type=int, default=20, help="how often processes are killed (default: %(default)s)")
    parser.add_argument("--nodes", type=int, default=3, help="how many nodes (default: %(default)s)")
    parser.add_argument("--apart", action="store_true", help="run luxid and wconfd apart instead of ganeti-master")
    parser.add_argument("--keep", action="store_true", help="leave the files for inspection")
    options = parser.parse_args(arguments)
    seed = int(time.time()) if options.seed is None else options.seed
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # whoever ends us early wants nothing left either
    directory = Path(tempfile.mkdtemp(prefix="gtx-chaos-", dir="/tmp"))
    cluster = CampaignCluster(directory, options.nodes, options.apart)
    print(f"seed {seed}, in {directory}", flush=True)
    try:
        cluster.up()
        outcome = campaign(cluster, seed, options.minutes * 60, options.kills)
        if options.keep:
            shutil.copytree(
                cluster.layout.root,
                directory / "kept",
                symlinks=True,
                ignore=shutil.ignore_patterns("*socket*", "ganeti-query", "ctrl"),
            )
    except DevclusterError as error:
        print(f"bench/chaos: {error}", file=sys.stderr)
        return 1
    finally:
        cluster.close()
        if not options.keep:
            shutil.rmtree(directory, ignore_errors=True)
    report(outcome)
    again = f"--seed {seed} --minutes {options.minutes:g} --kills {options.kills} --nodes {options.nodes}"
    print(f"the same again: bench/chaos {again}" + (" --apart" if options.apart else ""))
    return 1 if outcome.violations else 0


if __name__ == "__main__":
    sys.exit(main())
