"""Calling ganeti-bootstrap, the program that sets nodes up where no master daemon can."""

import json
import sys
from typing import Any

from ganeti_tx.cli.session import Session

_MODULE = "ganeti_tx.bootstrap.main"


def run_bootstrap(session: Session, step: str, document: dict[str, Any]) -> int:
    """Run one step (init, destroy or node-join); its exit status. What it says comes out here.

    The document goes over standard input, since it may hold what no list of processes may show.
    """
    return session.run([sys.executable, "-m", _MODULE, step], json.dumps(document).encode())
