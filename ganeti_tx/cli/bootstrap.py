"""Calling ganeti-bootstrap, the program that sets nodes up where no master daemon can."""

import json
from typing import Any

from ganeti_tx.cli.session import Session
from ganeti_tx.own_modules import module_argv

_MODULE = "ganeti_tx.bootstrap.main"


def run_bootstrap(session: Session, step: str, document: dict[str, Any]) -> int:
    """Run one step (init, destroy or node-join); its exit status. What it says comes out here.

    The document goes over standard input, since it may hold what no list of processes may show.
    """
    return session.run(module_argv(_MODULE, step), json.dumps(document).encode())
