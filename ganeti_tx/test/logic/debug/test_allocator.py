"""Tests of asking an allocator for nothing that is done."""

from typing import Any

from ganeti_tx.errors import OpPrereqError
from ganeti_tx.logic.debug.allocator import MOST_AT_ONCE
from ganeti_tx.model.enums import DiskTemplate
from ganeti_tx.model.opcodes.test import OpTestAllocator
from ganeti_tx.model.opcodes.types import AllocatorDirection, AllocatorMode
from ganeti_tx.test.logic.stage import UnitTestCase


class AllocatorTests(UnitTestCase):
    """OP_TEST_ALLOCATOR for new instances."""

    def wrong(self, reason: str, **given: Any) -> None:
        """It is refused as wrong input."""
        asked: dict[str, Any] = {
            "disk_template": DiskTemplate.FILE,
            "disks": ({"size": 1024},),
            "nics": (),
            "memory": 128,
            "vcpus": 1,
            "os": "noop",
            **given,
        }
        op = OpTestAllocator(
            direction=AllocatorDirection.IN, mode=AllocatorMode.MULTI_ALLOCATE, name="new.example.com", **asked
        )
        self.assertIn(reason, self.refused(op, OpPrereqError))

    def test_disks(self) -> None:
        """The opcode's type takes any JSON for a disk; what is no object is refused by its place."""
        for disk, shown in ((1, "1"), ([], "[]"), ([0, {}], "[0, {}]"), (None, "null"), ("size", '"size"')):
            self.wrong(f"disk/1: expected an object, got {shown}", disks=({"size": 1024}, disk))

    def test_count(self) -> None:
        """The document has each of them, so that there is a limit."""
        self.wrong(f"count is 1000000000; allowed are 0 to {MOST_AT_ONCE}", count=1_000_000_000)
