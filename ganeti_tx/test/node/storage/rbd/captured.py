"""What Ceph 16.2 printed on a node whose kernel has no module for its images."""

from pathlib import Path

from ganeti_tx.runtime.process import ProcessResult

CAPTURES = Path(__file__).parent / "captures"


def captured(name: str) -> bytes:
    """One output."""
    return (CAPTURES / name).read_bytes()


def failure(name: str, status: int) -> ProcessResult:
    """A program that ended so and said why."""
    return ProcessResult(status=status, stderr=captured(f"{name}.stderr"))
