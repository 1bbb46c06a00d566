"""The files that tell other programs which state each instance was seen in: a line each, "NAME STATUS"."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from ganeti_tx.model.node_files import INSTANCE_STATUS
from ganeti_tx.runtime.files_replace import replace_file
from ganeti_tx.watcher.node import read_text


def write_status(path: Path, statuses: Mapping[str, str]) -> None:
    """Write it; one that says so already is only touched, as its age tells when that was seen."""
    text = "".join(f"{name} {status}\n" for name, status in sorted(statuses.items()))
    if path.exists() and read_text(path) == text:
        os.utime(path)
    else:
        replace_file(path, text.encode(), INSTANCE_STATUS.mode)


def merged(paths: Iterable[Path]) -> dict[str, str]:
    """What several say."""
    lines = (line.split() for path in paths for line in read_text(path).splitlines())
    return {words[0]: words[1] for words in lines if len(words) == 2}
