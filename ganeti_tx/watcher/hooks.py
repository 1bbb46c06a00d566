"""The administrator's own scripts for each run, such as one that starts further daemons (Ganeti 3.0 watcher table)."""

import re
import stat
from pathlib import Path

from ganeti_tx.watcher.node import WatchedNode

DIRECTORY = "watcher"
#: Scripts are called so; what is called otherwise is none (Ganeti 3.0 hook table).
NAME = re.compile(r"[a-zA-Z0-9_-]+")
#: As Ganeti 3.0.2 was seen to have it.
LANGUAGE = {"LC_ALL": "C"}
#: Seconds that one script may take.
LIMIT = 60.0


def run_hooks(node: WatchedNode) -> None:
    """Run them one after the other, with the environment that the watcher itself has, in no language; what fails is only logged."""
    directory = node.paths.hooks_dir / DIRECTORY
    if not directory.is_dir():
        return
    if directory.stat().st_mode & stat.S_IWOTH:
        node.log.warning(f"{directory}: not run, since others may write to it; 'chmod o-w' mends that")
        return
    for script in sorted(directory.iterdir()):
        if NAME.fullmatch(script.name) and is_script(script):
            _run(node, script)


def is_script(path: Path) -> bool:
    """Whether it is a file that can be run."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return stat.S_ISREG(mode) and bool(mode & 0o111)


def _run(node: WatchedNode, script: Path) -> None:
    if script.stat().st_mode & stat.S_IWOTH:
        node.log.warning(f"{script}: not run, since others may write to it; 'chmod o-w' mends that")
        return
    status, said = node.run([str(script)], {**node.environ, **LANGUAGE}, LIMIT)
    if status != 0:
        node.log.warning(f"hook {script.name} failed with status {status}: {said.strip() or 'it said nothing'}")
    else:
        node.log.debug(f"hook {script.name} ran")
