"""Seeded faults: an instance on a mirror whose machines, cable or volumes fail in the middle of an operation.

Each number is a case of its own, `faults.Case.of`. A run of all tests has four; `bin/lab campaign` has every operation with every
fault, or those numbers that GANETI_LAB_SEEDS has, as in "3 5".
"""

import json
import os
import re
import shlex
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.test.lab.case import CAMPAIGN_VARIABLE, Chosen, LabCase, the_cluster
from ganeti_tx.test.lab.faults import ALL, MIRRORING, Befall, Case, until
from ganeti_tx.test.lab.faults_page import PAGE, Row, check, keep, known, page
from ganeti_tx.test.lab.mirrored import MirroredInstance

NAME = "web3.lab.example"
#: Has the numbers that are tried, if not the usual ones.
SEEDS_VARIABLE = "GANETI_LAB_SEEDS"
#: Those of a run of all tests.
ALWAYS = (2, 4, 23, 35)
#: Seconds: for a job, which tries for two minutes to reach a machine that is gone; until a step begins.
JOB_LIMIT = 420.0
STEP_LIMIT = 60.0
#: KiB a second, so that a synchronisation can be met in its middle.
SLOW = 512
#: The page with what was found, if it is another then.
FOUND = Path("faults.rst")
ENDED = ("success", "error", "canceled")
#: How commands stand in messages.
COMMAND = re.compile(r"'(gnt-[^']+)'")
COMMANDS = {
    "grow": ["grow-disk", "--ignore-ipolicy", NAME, "0", "16m"],
    "migrate": ["migrate", "-f", NAME],
}


def seeds() -> list[int]:
    """Those of this run."""
    if named := os.environ.get(SEEDS_VARIABLE):
        return [int(word) for word in named.split()]
    return list(range(len(ALL)) if CAMPAIGN_VARIABLE in os.environ else ALWAYS)


class FaultTests(Chosen, LabCase):
    """Afterwards configuration and devices agree, or a command that the error names makes them so; no data are lost."""

    always = frozenset({"test_seeds"})

    def setUp(self) -> None:
        """The cluster of the machines, and the instance's name."""
        super().setUp()
        self.cluster = the_cluster()
        self.instance = MirroredInstance(self.cluster, NAME)

    def test_seeds(self) -> None:
        """Each of the numbers; those that went wrong are told together."""
        self.addCleanup(self.instance.remove)
        self.rows: list[Row] = []
        wrong = {seed: fault for seed in seeds() if (fault := self.fault_of(seed))}
        self.assertEqual(wrong, {})
        check(self.rows, FOUND)

    def fault_of(self, seed: int) -> str:
        """What was wrong with a number; it is told at once, as others follow."""
        case, begun = Case.of(seed), time.monotonic()
        try:
            found = "\n".join(self.tried(seed, case))
        except Exception as error:  # the other numbers count, too
            self.instance.remove()
            found = f"{type(error).__name__}: {error}"
        print(f"seed {seed}: {case}: {found or 'in order'} ({time.monotonic() - begun:.0f} s)", flush=True)
        return found

    def tried(self, seed: int, case: Case) -> list[str]:
        """Make the case happen; what is wrong then, with what the job told."""
        written = self.prepared(seed, case)
        befall = Befall(case, self.instance, self.machine_of(case))
        befall.before()
        job = None
        try:
            job = self.begin(seed, case)
            secrets = self.secrets_in(job)
            befall.now(self.process_of(job))
            if written is not None and self.goes_on_writing(case):
                written = self.instance.write(seed + 1000)
            self.wait_for(job, JOB_LIMIT if case.fault == "full" else case.lasts)
        finally:
            befall.over()
        told = self.told(job)
        wrong = self.put_in_order(case, told)
        digests = self.instance.digests() if written is not None and not wrong else {}
        changed = [f"{place} has other data" for place, digest in digests.items() if digest != written]
        wrong += secrets
        if case.fault != "full" and any("OpPrereqError" in text for text in told):
            wrong.append("the operation was refused")
        if not wrong:
            self.rows.append(Row(seed, len(digests), len(changed)))
            keep(self.rows, FOUND)  # a run may be ended before its last case
        return [*wrong, *changed, *(told if wrong or changed else [])]

    def prepared(self, seed: int, case: Case) -> str | None:
        """The instance runs, and both sides have what it wrote, whose digest is given; or there is none, to be created."""
        if case.operation == "create":
            self.instance.remove()
            return None
        if not self.instance.is_known or self.instance.disagreements():
            self.instance.remove()
            self.cluster.ok(*self.instance.new())
        if self.cluster.ok("gnt-instance", "list", "--no-headers", "-o", "status", NAME).strip() != "running":
            self.cluster.ok("gnt-instance", "startup", NAME)
        return self.instance.write(seed)

    def machine_of(self, case: Case) -> Any:
        """The one that the fault befalls."""
        if case.operation == "create":
            return self.machines[case.side != "primary"]
        return self.instance.primary if case.side == "primary" else self.instance.secondary

    def goes_on_writing(self, case: Case) -> bool:
        """Whether the instance runs on where it was, so that what it writes now is what must be there in the end.

        While the volume of its own node is replaced it has its data from the other node alone.
        """
        cut_off = case.fault in ("power", "link") and case.operation == "replace" and case.replaces == "primary"
        on_lost = (case.fault, case.side) == ("power", "primary")
        return case.operation not in ("create", "migrate") and not cut_off and not on_lost

    def begin(self, seed: int, case: Case) -> int | None:
        """The job of the operation, which is in the middle of it; None of one that has no job."""
        if case.operation == "resync":
            self.begin_synchronisation(seed, case)
            return None
        job = self.submit(case)
        until(lambda: self.has_come_to(job, case.step) or self.has_ended(job), STEP_LIMIT)
        self.wait_for(job, case.later)
        return job

    def wait_for(self, job: int | None, limit: float) -> bool:
        """Until a job has ended, if there is one, or the time is over. Whether it has."""
        return until(lambda: job is not None and self.has_ended(job), limit)

    def submit(self, case: Case) -> int:
        """Hand the operation in."""
        if case.operation == "create":
            program, *words = self.instance.new()
        elif case.operation == "replace":
            program, words = "gnt-instance", ["replace-disks", "-p" if case.replaces == "primary" else "-s", NAME]
        else:
            program, words = "gnt-instance", COMMANDS[case.operation]
        said = self.cluster.run(program, words[0], "--submit", *words[1:]).stderr
        found = re.search(r"^JobID: (\d+)$", said, re.MULTILINE)
        assert found, said
        return int(found[1])

    def begin_synchronisation(self, seed: int, case: Case) -> None:
        """What was written once more while the sides were apart is carried over; or all, to volumes that are to break.

        With the only good copy the data would be lost, as with any mirror.
        """
        network, machine = self.cluster.lab.network, self.instance.secondary
        self.instance.synchronise_at(SLOW)
        if case.fault == "errors":
            self.instance.fill(self.machine_of(case))
        else:
            network.cut(machine.node, MIRRORING)
            self.instance.write(seed)
            network.mend(machine.node, MIRRORING)
        until(lambda: "Sync" in machine.run("cat /proc/drbd"), STEP_LIMIT)
        self.wait_for(None, case.later)

    def job_file(self, job: int) -> dict[str, Any]:
        """As it is on the master's disk."""
        path = Path(self.cluster.root / f"var/lib/ganeti/queue/job-{job}")
        return dict(json.loads(path.read_bytes()))

    def process_of(self, job: int | None) -> int | None:
        """The one that does a job; None when it has ended."""
        return None if job is None or self.has_ended(job) else self.job_file(job)["process_id"]

    def secrets_in(self, job: int | None) -> list[str]:
        """What must not be in a job's file, where what takes it back stands."""
        if job is None:
            return []
        text = json.dumps(self.job_file(job))
        secrets = {secret for disk in self.instance.config.disks.values() for secret in disk.secrets}
        return ["the job's file has a mirror's secret" for secret in secrets if secret in text]

    def has_come_to(self, job: int, number: int) -> bool:
        """Whether it does the step of a number, counted round among those of its plan, or a later one."""
        (op,) = self.job_file(job)["ops"]
        steps = [content for _, _, kind, content in op["log"] if kind == "step" and "of" in content]
        return any(each["step"] > (number - 1) % each["of"] for each in steps)

    def has_ended(self, job: int) -> bool:
        """Well or not."""
        (op,) = self.job_file(job)["ops"]
        return op["status"] in ENDED

    def told(self, job: int | None) -> list[str]:
        """What a job's log and its error say, once it has ended."""
        if job is None:
            return []
        self.assertTrue(self.wait_for(job, JOB_LIMIT), f"job {job} goes on")
        (op,) = self.job_file(job)["ops"]
        return [
            *(str(content) for *_, kind, content in op["log"] if kind == "message"),
            f"{op['status']}: {op['result']}",
        ]

    def put_in_order(self, case: Case, told: list[str]) -> list[str]:
        """What is still wrong when the disks were made ready, as after every loss of power, and the commands named were run.

        Where power was not lost, and nothing is wrong, nothing is done.
        """
        wrong = self.instance.disagreements()
        if case.fault == "power" or wrong:
            told = [*told, *self.made_ready()]
            wrong = self.instance.disagreements()
        for command in dict.fromkeys(self.named(told)):
            if not wrong:
                break
            ended = self.cluster.run(*shlex.split(command))
            told += [f"{command}: status {ended.returncode}", ended.stdout, ended.stderr, *self.made_ready()]
            wrong = self.instance.disagreements()
        return [*wrong, *told] if wrong else []

    def made_ready(self) -> list[str]:
        """What the command said that makes disks ready, if there is an instance."""
        if not self.instance.is_known:
            return []
        ended = self.cluster.run("gnt-instance", "activate-disks", "--wait-for-sync", NAME)
        return [ended.stdout, ended.stderr]

    def named(self, told: list[str]) -> Iterator[str]:
        """Commands in messages, the latest first, but for those that have another condition: here no copy is lost for good."""
        for text in reversed(told):
            if "has lost its copy" not in text:
                yield from COMMAND.findall(text)


class PageTests(SynchronousTestCase):
    """What the campaign has found."""

    def test_page(self) -> None:
        """Its rows are the cases of their numbers, and its sums theirs; no data were lost."""
        rows = known()
        self.assertEqual(PAGE.read_text(), page(rows.values()))
        self.assertLessEqual({*ALWAYS}, {*rows})
        self.assertEqual([row for row in rows.values() if row.differ], [])
