"""Where this node's daemons say more, for messages that are read elsewhere."""

import os

from ganeti_tx.runtime.daemon_control import DaemonControl
from ganeti_tx.runtime.paths import Paths


def log_of(daemon: str) -> str:
    """What to type to read a daemon's log, or its file."""
    return DaemonControl.here().log(daemon, Paths.from_environment(os.environ).log_file(daemon))
