"""The collectors of Xen's domains, against what xl 4.17 really wrote."""

from typing import Any

import msgspec
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import HypervisorError
from ganeti_tx.mond.inst_status import Reasons
from ganeti_tx.mond.inst_status_xen import InstanceStatusXen
from ganeti_tx.mond.interfaces import NodeFacts
from ganeti_tx.mond.xen_cpu_avg_load import XenCpuAvgLoad
from ganeti_tx.mond.xl import LIST, UPTIME
from ganeti_tx.node.hypervisor.xen.listed import Domain, parse_list, parse_uptime
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.process import ProcessResult
from ganeti_tx.test.fakes.files import MemoryFiles
from ganeti_tx.test.fakes.process import FakeProcessRunner
from ganeti_tx.test.mond.parts import FixedFacts, known, load

CAPTURES: dict[str, str] = load("xl")
WEB = "web1.example.com"


class ParseTests(SynchronousTestCase):
    """What xl writes."""

    def test_list(self) -> None:
        """Every line below the heading is a domain."""
        self.assertEqual(
            parse_list(CAPTURES["xl_list"]),
            [Domain("Domain-0", 0, 768, 1, "running", 21.7), Domain(WEB, 1, 128, 1, "blocked", 7.9)],
        )
        self.assertEqual(parse_list(CAPTURES["xl_pause"])[1].state, "paused")
        self.assertEqual(parse_list(CAPTURES["xl_list"].replace("-b----", "---s-d"))[1].state, "dying")
        self.assertEqual(parse_list(CAPTURES["xl_list"].replace("-b----", "------"))[1].state, "runnable")

    def test_uptime(self) -> None:
        """By name, in xl's words; days are two of them."""
        self.assertEqual(parse_uptime(CAPTURES["xl_uptime"]), {"Domain-0": "0:00:37", WEB: "0:00:22"})
        longer = CAPTURES["xl_uptime"].replace("0:00:22", "1 day,  2:03:04")
        self.assertEqual(parse_uptime(longer)[WEB], "1 day,  2:03:04")

    def test_other_text(self) -> None:
        """What xl does not write is an error."""
        for text in ("", CAPTURES["xl_list_missing"], CAPTURES["xl_list"].replace("7.9", "much")):
            self.assertRaises(HypervisorError, parse_list, text)
        self.assertRaises(HypervisorError, parse_uptime, "nothing")


class XenCase(SynchronousTestCase):
    """A Xen node."""

    def setUp(self) -> None:
        self.runner = FakeProcessRunner()
        self.say(LIST, CAPTURES["xl_list"])
        self.say(UPTIME, CAPTURES["xl_uptime"])

    def say(self, argv: tuple[str, ...], text: str) -> None:
        """What xl writes from now on."""
        self.runner.script(argv, ProcessResult(stdout=text.encode()))


class InstanceStatusXenTests(XenCase):
    """The collector "inst-status-xen"."""

    def test_report(self) -> None:
        """The node's own Xen instances are there, and only those; a domain that is none of them is not."""
        instances = (known(WEB, "xen-pvm"), known("web2", "xen-hvm"), known("web3", "kvm"))
        files = MemoryFiles()
        collector = InstanceStatusXen(
            self.runner, FixedFacts(NodeFacts(instances, heard=True)), Reasons(files, Paths())
        )
        report: Any = msgspec.to_builtins(self.successResultOf(collector.collect()))
        web, other = report["instances"]
        self.assertEqual(
            web,
            {
                "name": WEB, "uuid": f"uuid-{WEB}", "adminState": "up", "actualState": "blocked", "uptime": "0:00:22",
                "mtime": 1234.5, "state_reason": [], "status": {"code": 0, "message": ""},
            },
        )  # fmt: skip
        self.assertEqual((other["actualState"], other["status"]["code"]), ("down", 4))
        self.assertEqual(report["status"]["code"], 4)
        self.assertIn("web2 is down", report["status"]["message"])


class XenCpuAvgLoadTests(XenCase):
    """The collector "xen-cpu-avg-load"."""

    def test_average(self) -> None:
        """A domain has a load from its second sample on; one that is gone is forgotten."""
        clock = Clock()
        collector = XenCpuAvgLoad(self.runner, clock)
        self.assertEqual(self.successResultOf(collector.collect()), {})
        clock.advance(10)
        self.say(LIST, CAPTURES["xl_list"].replace("7.9", "12.9"))
        self.assertEqual(self.successResultOf(collector.collect()), {"Domain-0": 0.0, WEB: 0.5})
        clock.advance(10)
        self.say(LIST, CAPTURES["xl_list.dom0"])
        self.assertEqual(list(self.successResultOf(collector.collect())), ["Domain-0"])

    def test_no_xl(self) -> None:
        """A node without xl says so; so does one whose xl fails."""
        self.assertIn(
            "not installed", str(self.failureResultOf(XenCpuAvgLoad(FakeProcessRunner(), Clock()).collect()).value)
        )
        self.runner.script(LIST, ProcessResult(status=1, stderr=b"cannot open hypercall interface\n"))
        failure = self.failureResultOf(XenCpuAvgLoad(self.runner, Clock()).collect(), HypervisorError)
        self.assertIn("hypercall", str(failure.value))
