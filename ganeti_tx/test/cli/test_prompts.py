"""What operators are asked, as it was recorded of Ganeti 3.0.2 at a terminal, which shows besides what is typed."""

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import ExitCode
from ganeti_tx.test.cli.fakes import CommandLine, Outcome, Terminal, answer_of

REINSTALL = "This will reinstall the instance 'inst5.qa.test' (and keep the same\nOS) which removes all data. Continue?\ny/[n]/?: "
NUMBER = "Enter OS template number (or x to abort):\n0/1/2/3/[x]/?: "
OTHER = (
    "This will reinstall the instance 'inst2.qa.test' (and change the OS to\n'envdump+default') which removes all data. "
    "Continue?\ny/[n]/?: "
)
SYSTEMS = "Available OS templates:\n  0: envdump+default\n  1: envdump+testing\n  2: failing+default\n  3: noop\n"
MEANINGS = (
    " 0 - envdump+default\n 1 - envdump+testing\n 2 - failing+default\n 3 - noop\n x - Exit gnt-instance reinstall\n\n"
)
NAME = "As you disabled the check of the DNS entry, please verify that\n'plainname' is a FQDN. Continue?\ny/[n]/?: "
MANY = """\
The shutdown will operate on 2 instances.
Do you want to continue?
Affected instances:
  inst5.qa.test
  inst6.qa.test
y/[n]/?: """


class PromptTests(SynchronousTestCase):
    """Of commands for instances."""

    def setUp(self) -> None:
        self.cli = CommandLine()
        self.cli.client.results["OP_OS_DIAGNOSE"] = [
            ["envdump", ["default", "testing"]],
            ["failing", ["default"]],
            ["noop", []],
        ]
        self.cli.client.results["OP_INSTANCE_RENAME"] = "plainname"

    def typed(self, line: str, *answers: str) -> Outcome:
        """A command with what is typed at its questions."""
        return self.cli(*line.split(), stdin=Terminal("".join(f"{answer}\n" for answer in answers)))

    def kinds(self) -> list[str]:
        """The opcodes that were submitted."""
        return [op["OP_ID"] for op in self.cli.client.submitted]

    def test_declined(self) -> None:
        """No changes nothing, and neither does an empty answer."""
        for answer in ("n", "no", ""):
            outcome = self.typed("gnt-instance reinstall inst5.qa.test", answer)
            self.assertEqual((outcome.status, outcome.err), (ExitCode.FAILURE, REINSTALL))
        self.assertEqual(self.kinds(), [])

    def test_what_the_keys_mean(self) -> None:
        """A question mark tells, and the question comes again; so it does after what is no answer."""
        outcome = self.typed("gnt-instance shutdown inst5.qa.test inst6.qa.test", "?", "what", "y")
        told = " y - Yes, execute the shutdown\n n - No, abort the shutdown\n\n"
        self.assertEqual((outcome.status, outcome.err), (0, f"{MANY}{told}{MANY}{MANY}"))
        self.assertEqual(self.kinds(), ["OP_INSTANCE_SHUTDOWN"] * 2)

    def test_system(self) -> None:
        """A system is chosen by its number, which must be in the list."""
        outcome = self.typed("gnt-instance reinstall --select-os inst2.qa.test", "?", "99", "0", "y")
        self.assertEqual(outcome.out.removesuffix("Waiting for job 2 for inst2.qa.test ...\n"), SYSTEMS)
        self.assertEqual(outcome.err, f"{NUMBER}{MEANINGS}{NUMBER}{NUMBER}{OTHER}")
        self.assertEqual(self.cli.client.submitted[-1]["os_type"], "envdump+default")

    def test_no_system(self) -> None:
        """None is chosen."""
        outcome = self.typed("gnt-instance reinstall --select-os inst2.qa.test", "x")
        self.assertEqual(outcome.status, ExitCode.FAILURE)
        self.assertEqual(self.kinds(), ["OP_OS_DIAGNOSE"])

    def test_name(self) -> None:
        """A name that is not looked up is asked about."""
        outcome = self.typed("gnt-instance rename --no-name-check --no-ip-check inst6.qa.test plainname", "y")
        self.assertEqual(outcome, (0, "Instance 'inst6.qa.test' renamed to 'plainname'\n", NAME))

    def test_source_offline(self) -> None:
        """What of a failing over is ignored is only safe while the node is away that the instance comes from: that is asked,
        also when it is forced, unless the node is marked so."""
        asked = "To failover instance web1, the source node must be marked offline\nfirst. Is this already the case?\ny/[n]/?: "
        line, offline = "gnt-instance failover -f --ignore-consistency web1", False
        self.cli.client.answers["Query"] = lambda what, *_: answer_of(
            rows=[["node1"]] if what == "instance" else [[offline]]
        )
        self.assertEqual(self.typed(line, "n").err[: len(asked)], asked)
        self.assertEqual(self.kinds(), [])
        self.assertEqual(self.typed(line, "y").err, asked)
        offline = True
        self.assertEqual(self.typed(line).err, "")
        self.assertEqual(self.cli(*line.split()).err, "")
        self.assertEqual(self.kinds(), ["OP_INSTANCE_FAILOVER"] * 3)
