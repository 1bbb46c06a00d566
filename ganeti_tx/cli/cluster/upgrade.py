"""gnt-cluster upgrade."""

import json
from collections.abc import Sequence

from ganeti_tx.cli.options import Command, Option, switch
from ganeti_tx.cli.parsing import Parsed
from ganeti_tx.cli.session import Session
from ganeti_tx.errors import ExitCode
from ganeti_tx.own_modules import module_argv

_MODULE = "ganeti_tx.upgrade.main"


def upgrade(session: Session, options: Parsed, words: Sequence[str]) -> int:
    """Have all nodes run another version of the program, which is installed on them, or go on with that."""
    if (options.to is not None) == options.resume:
        session.warn("Precisely one of the options --to and --resume has to be given")
        return ExitCode.FAILURE
    return session.run(module_argv(_MODULE, "cluster"), json.dumps({"to": options.to}).encode())


UPGRADE = Command(
    upgrade,
    (),
    (
        Option(("--to",), "to", "the version, which is installed on all nodes", "string", metavar="<version>"),
        switch("--resume", "resume", "go on with an upgrade that was broken off"),
    ),
)
