"""gnt-debug test-osparams."""

from collections.abc import Sequence

from ganeti_tx.cli.options import SUBMITTING, Command, Option
from ganeti_tx.cli.parsing import Parsed
from ganeti_tx.cli.session import Session
from ganeti_tx.cli.submit import opcode, run_opcode
from ganeti_tx.errors import ExitCode


def test_osparams(session: Session, options: Parsed, words: Sequence[str]) -> int:
    """Run a job that tells which secret parameters have come to it."""
    run_opcode(session, options, opcode("OP_TEST_OS_PARAMS", osparams_secret=options.osparams_secret))
    return ExitCode.SUCCESS


TEST_OSPARAMS = Command(
    test_osparams,
    (),
    (
        Option(("--os-parameters-secret",), "osparams_secret", "secret OS parameters", "keyprivateval", {}),
        *SUBMITTING,
    ),
)
