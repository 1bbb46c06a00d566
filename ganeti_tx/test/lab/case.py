"""Tests on machines: they are brought up when first needed, shared, and taken down when this process ends."""

import atexit
import os
from collections.abc import Sequence
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, ClassVar

from twisted.trial.itrial import IReporter
from twisted.trial.unittest import SkipTest, SynchronousTestCase, TestCase

from ganeti_tx.test.lab.blocking import BlockingRunner
from ganeti_tx.test.lab.cluster import LabCluster
from ganeti_tx.test.lab.guard import Guard
from ganeti_tx.test.lab.lab import Lab, missing
from ganeti_tx.test.lab.logs import LogReporter
from ganeti_tx.test.lab.machine import Machine
from ganeti_tx.test.lab.times import PAGES_VARIABLE, TimeReporter

#: The directory of a lab that is up already, as `bin/lab up` makes it: saves its boot while tests are being written.
LAB_VARIABLE = "GANETI_LAB"

#: Set by `bin/lab campaign`: every test is run, also those that take minutes together.
CAMPAIGN_VARIABLE = "GANETI_LAB_CAMPAIGN"

#: By their machines' init, or what they are for.
_up: dict[str, Lab] = {}
_runners: dict[int, BlockingRunner] = {}


def the_lab() -> Lab:
    """Two machines; four for the campaign. A test leaves them as it found them: on, connected, without volumes and without
    DRBD devices.

    @raise SkipTest: this machine can have none, and why.
    """
    return lab_with("quick")


def systemd_lab() -> Lab:
    """Two machines on which all runs that Debian starts; for one test, which leaves there what it will."""
    return lab_with("systemd")


def xen_lab(init: str = "xen") -> Lab:
    """Two machines under Xen, for tests of the campaign; `init` says for which guests.

    @raise SkipTest: this is none, or there can be no machines.
    """
    if CAMPAIGN_VARIABLE not in os.environ:
        raise SkipTest("'bin/lab campaign' runs this one")
    return lab_with(init)


def node_lab() -> Lab:
    """One machine on which all runs that Debian starts, with memory for a guest, for tests of the campaign.

    @raise SkipTest: this is none, or there can be no machines.
    """
    if CAMPAIGN_VARIABLE not in os.environ:
        raise SkipTest("'bin/lab campaign' runs this one")
    return lab_with("systemd", "node", 1, 2048)


def lab_with(init: str, purpose: str = "", machines: int = 0, memory: int | None = None) -> Lab:
    """The one with this init, for this purpose. @raise SkipTest: there can be none."""
    key = purpose or init
    if key not in _up and (named := os.environ.get(LAB_VARIABLE)) and Lab(Path(named)).machines[0].init == init:
        _up[key] = Lab(Path(named))
    if key not in _up:
        if (reason := missing()) is not None:
            raise SkipTest(reason)
        state = Path(mkdtemp(prefix="ganeti-lab-", dir="/var/tmp"))
        atexit.register(Guard.over(state).end)
        lab = Lab(state)
        lab.up(machines or count(init), init, memory=memory)
        _up[key] = lab
    return _up[key]


def count(init: str) -> int:
    """So many machines."""
    return 4 if init == "quick" and CAMPAIGN_VARIABLE in os.environ else 2


def runner_on(node: int) -> BlockingRunner:
    """Runs programs on a machine of `the_lab`, for tests that do not wait."""
    machine = the_lab().machine(node)
    if node not in _runners:
        _runners[node] = BlockingRunner(machine.to_agent, machine.name)
        atexit.register(_runners[node].close)
    return _runners[node]


def the_cluster() -> LabCluster:
    """That of `the_lab`, with plain disks, mirrors and files; it ends with it. A test removes its instances.

    @raise SkipTest: no lab.
    """
    cluster = LabCluster(the_lab())
    if not cluster.is_up:
        cluster.up(("plain", "drbd", "file"))
    cluster.start_nodes()
    return cluster


class KeptLogs(SynchronousTestCase):
    """When a test fails, what the machines said is kept, and its end shown with the failure; what passes is noted."""

    def labs(self) -> Sequence[Lab]:
        """Whose machines took part."""
        return list(_up.values())

    def run(self, result: Any = None) -> Any:
        """See `TestCase`."""
        reporter = LogReporter(IReporter(result), self.labs)
        pages = os.environ.get(PAGES_VARIABLE)
        return super().run(TimeReporter(reporter, Path(pages)) if pages else reporter)


class Chosen(KeptLogs, TestCase):
    """Of a contract's tests only those in `always` are run by every run of the tests; the campaign runs all.

    On a machine, each takes some ten seconds.
    """

    always: ClassVar[frozenset[str]]

    def setUp(self) -> None:
        """@raise SkipTest: the campaign has this one."""
        if self._testMethodName not in self.always and CAMPAIGN_VARIABLE not in os.environ:
            raise SkipTest("'bin/lab campaign' runs this one")
        super().setUp()


class LabCase(KeptLogs, TestCase):
    """`self.lab` is up while a test runs."""

    def setUp(self) -> None:
        """Bring it up."""
        self.lab = the_lab()

    @property
    def machines(self) -> list[Machine]:
        """All of it."""
        return self.lab.machines
