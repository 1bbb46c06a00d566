"""Chance, real and repeated."""

from uuid import UUID

from twisted.trial.unittest import SynchronousTestCase
from zope.interface.verify import verifyObject

from ganeti_tx.runtime.entropy import IEntropy, SystemEntropy
from ganeti_tx.test.fakes.entropy import SeededEntropy


class EntropyTests(SynchronousTestCase):
    """Both kinds."""

    def test_contract(self) -> None:
        """Each gives valid, different UUIDs and as many bytes as asked for."""
        for entropy in (SystemEntropy(), SeededEntropy()):
            verifyObject(IEntropy, entropy)
            uuids = {entropy.uuid() for _ in range(20)}
            self.assertEqual((len(uuids), {UUID(text).version for text in uuids}), (20, {4}))
            self.assertEqual(len(entropy.random_bytes(33)), 33)

    def test_seed(self) -> None:
        """The seed decides all."""
        self.assertEqual(SeededEntropy(7).uuid(), SeededEntropy(7).uuid())
        self.assertNotEqual(SeededEntropy(7).uuid(), SeededEntropy(8).uuid())
