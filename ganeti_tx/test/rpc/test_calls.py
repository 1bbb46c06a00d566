"""What every call of the table declares."""

import msgspec
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.rpc.calls.base import NodeCall
from ganeti_tx.rpc.calls.instance import InstanceInfo, RunningInstance
from ganeti_tx.rpc.calls.node import Version
from ganeti_tx.rpc.table import CALLS, by_name
from ganeti_tx.rpc.wire import decode_answer, encode_success


class ResultTests(SynchronousTestCase):
    """The type of the answer is the argument of the base class."""

    def test_every_call(self) -> None:
        """Each says what it answers, and msgspec can decode that."""
        for name, kind in CALLS.items():
            self.assertIsNotNone(msgspec.json.Decoder(kind.result()), name)

    def test_decoded(self) -> None:
        """An answer is decoded as what the class says, None where it may be None."""
        seen = RunningInstance(memory=1, vcpus=2, state=0, time=3.0)
        find = InstanceInfo(instance_name="web1", hypervisor="fake")
        self.assertEqual(decode_answer("node1", find, encode_success(seen)), seen)
        self.assertIsNone(decode_answer("node1", find, encode_success(None)))
        self.assertEqual(decode_answer("node1", Version(), encode_success(7)) + 1, 8)


class TableTests(SynchronousTestCase):
    """The table that is found in the modules of `rpc.calls`."""

    def test_limits(self) -> None:
        """Each call has a limit on its time and its sizes."""
        self.assertGreater(len(CALLS), 40)
        for name, kind in CALLS.items():
            self.assertGreater(min(kind.timeout, kind.max_request, kind.max_response), 0, name)

    def test_names_are_unique(self) -> None:
        """Two calls of one name are found when the program starts."""

        class Another(NodeCall[None], frozen=True, kw_only=True):
            name = "version"

        with self.assertRaisesRegex(ValueError, "two node calls are named version: Version and Another"):
            by_name([*CALLS.values(), Another])
