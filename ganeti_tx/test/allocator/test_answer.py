"""What becomes of an allocator's answer."""

import json
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.allocator.answer import read_answer
from ganeti_tx.errors import ECode, OpExecError, OpPrereqError
from ganeti_tx.test.allocator.test_document import REQUEST


class AnswerTests(SynchronousTestCase):
    """An allocator named hail is asked for one node."""

    def read(self, **said: Any) -> list[str]:
        """What an answer comes down to."""
        return read_answer("hail", REQUEST, json.dumps(said))

    def test_nodes(self) -> None:
        """The nodes chosen; an old allocator calls them nodes, and what it says besides does not matter."""
        self.assertEqual(self.read(success=True, info="fine", result=["node1"]), ["node1"])
        self.assertEqual(self.read(success=True, info="fine", nodes=["node2"], more=1), ["node2"])

    def test_nothing_found(self) -> None:
        """Its own words are told, and that resources are lacking."""
        info = "Request failed: Group default (preferred): FailDisk: 3"
        error = self.assertRaises(OpPrereqError, self.read, success=False, info=info, result=[])
        self.assertEqual(str(error), f"Can't compute nodes using iallocator 'hail': {info}")
        self.assertEqual(error.ecode, ECode.NORES)

    def test_not_the_protocol(self) -> None:
        """Each says what is wrong on one line."""
        for said in (
            {},
            {"success": "yes", "info": ""},
            {"success": True, "result": ["node1"]},
            {"success": True, "info": 1},
        ):
            error = self.assertRaises(OpExecError, self.read, **said)
            self.assertIn("Can't parse iallocator results: iallocator 'hail'", str(error))
        for result in (None, [], "node1", ["node1", "node2"], [1], {"node1": 1}):
            error = self.assertRaises(OpExecError, self.read, success=True, info="", result=result)
            self.assertIn("iallocator 'hail' returned an invalid result: ", str(error))
        self.assertRaises(OpExecError, self.read, success=True, info="")
        self.assertRaises(OpExecError, read_answer, "hail", REQUEST, "Usage: hail")

    def test_hostile(self) -> None:
        """An answer without end in its depth or its words is no reason to break, or to fill a job's file."""
        deep = '{"success": true, "info": "", "result": ' + "[" * 100_000 + "]" * 100_000 + "}"
        self.assertIn("Can't parse", str(self.assertRaises(OpExecError, read_answer, "hail", REQUEST, deep)))
        error = self.assertRaises(OpPrereqError, self.read, success=False, info="x" * 1_000_000)
        self.assertLess(len(str(error)), 10_000)
