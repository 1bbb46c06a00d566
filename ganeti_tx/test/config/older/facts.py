"""Invented configurations in the layouts of older versions, with what Ganeti 3.0.2's own tool makes of them."""

import json
from pathlib import Path
from typing import Any

DIRECTORY = Path(__file__).parent.parent / "facts/older"
VERSIONS = ("2.7", "2.8", "2.9", "2.10", "2.11", "2.12", "2.13", "2.14", "2.15", "2.16")
#: Of 2.7, with what its tools left undone.
REPAIRED = "2.7-repaired"
PRESENT = "3.0"


def older(version: str) -> Any:
    """The configuration of a version, as dicts and lists."""
    return read(version)["config"]


def upgraded(version: str) -> Any:
    """What Ganeti's tool makes of it."""
    return read(version)["upgraded"]


def read(version: str) -> Any:
    """The file of a version."""
    return json.loads((DIRECTORY / f"{version}.json").read_text())
