"""What LVM 2.03 printed on a node with two volume groups; one of the three physical volumes of "xenvg" was lost later."""

from pathlib import Path

CAPTURES = Path(__file__).parent / "captures"


def captured(name: str) -> bytes:
    """One output."""
    return (CAPTURES / name).read_bytes()
