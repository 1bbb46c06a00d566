"""Conversations with a real QEMU 7.2, recorded."""

from pathlib import Path
from typing import Any

import msgspec
from attrs import frozen

DIRECTORY = Path(__file__).parent / "captures"
CAPTURES = ("lifecycle", "reset")


@frozen
class Captured:
    """One message of a conversation."""

    from_qemu: bool
    message: dict[str, Any]


def captured(name: str) -> list[Captured]:
    """One conversation."""
    lines = [msgspec.json.decode(line) for line in (DIRECTORY / f"{name}.jsonl").read_bytes().splitlines()]
    return [Captured(line["dir"] == "<", line["msg"]) for line in lines]
