"""Connects the terminal to the console of a Xen domain; Ctrl-] leaves. Run on the instance's node by gnt-instance console.

A domain that was started paused is let run once its console is watched, so that nothing of what it says is lost.
"""

import subprocess
import sys
import time
from collections.abc import Sequence

#: Seconds until xl has connected; it does not say when.
CONNECTED = 2.0
LIMIT = 30.0
#: Where in a line of `xl list` the letters of the state are, and which is that of a paused domain.
STATE, PAUSED = 4, "p"


def main(words: Sequence[str], connected: float = CONNECTED) -> int:
    """The exit status: that of xl, 1 when there is no such domain."""
    if len(words) != 1 or words[0].startswith("-"):
        print("usage: python -m ganeti_tx.xen_console DOMAIN", file=sys.stderr)
        return 2
    name = words[0]
    try:
        waits = is_paused(name)
        if waits is None:
            print(f"there is no domain {name} on this node; does the instance run?", file=sys.stderr)
            return 1
        console = subprocess.Popen(["xl", "console", name])
    except (OSError, subprocess.TimeoutExpired) as error:
        print(f"cannot ask xl for the console of {name}: {error}", file=sys.stderr)
        return 1
    if waits:
        time.sleep(connected)
        subprocess.run(["xl", "unpause", name], check=False, timeout=LIMIT)
    return console.wait()


def is_paused(name: str) -> bool | None:
    """Whether a domain waits to be let run; None: there is none."""
    listed = subprocess.run(["xl", "list", name], capture_output=True, text=True, check=False, timeout=LIMIT)
    words = (listed.stdout.splitlines() or [""])[-1].split()
    if listed.returncode != 0 or len(words) <= STATE or words[0] != name:
        return None
    return PAUSED in words[STATE]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
