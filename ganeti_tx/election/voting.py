"""Whether and how long the master daemons ask for votes; their options, and the file by which a failover spares them the vote."""

from collections.abc import Mapping
from typing import Any

import attrs

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths

#: Seconds for which nodes that do not answer are asked again; a background start waits a little longer than that.
TIMEOUT = 45.0

FLAGS = [
    ["no-voting", None, "take the master role without asking the other nodes; needs --yes-do-it"],
    ["yes-do-it", None, "really do it"],
]


def timeout(text: str) -> float:
    """Seconds. @raise ValueError: no number from 0 to a day."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= 86400:
        raise ValueError(f"{text!r} is not a number of seconds from 0 to 86400")
    return seconds


PARAMETERS = [
    ["voting-timeout", None, TIMEOUT, "seconds for which nodes that do not answer are asked again", timeout],
]


@attrs.frozen
class Voting:
    """How a daemon that wants the master role asks for it."""

    vote: bool = True
    timeout: float = TIMEOUT


def voting_of(options: Mapping[str, Any], files: IFiles, paths: Paths) -> Voting:
    """What the options say, and the file that a failover without votes left for the start that follows it.

    @raise OpPrereqError: --no-voting alone.
    """
    asked = bool(options["no-voting"])
    if asked and not options["yes-do-it"]:
        raise OpPrereqError(
            "--no-voting is dangerous while another node may be the master; if you are sure, add --yes-do-it",
            ECode.INVAL,
        )
    return Voting(not asked and not files.exists(paths.no_voting_file), options["voting-timeout"])
