"""What DRBD 8.4.11 and drbd-utils 9.22 really printed, by situation and command."""

import json
from pathlib import Path

CAPTURES: dict[str, str] = json.loads(Path(__file__).with_name("captures.json").read_text())


def captured(name: str) -> str:
    """One output."""
    return CAPTURES[name]
