"""The tables that commands carry, so as not to load the model, are those that the model declares."""

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.cli import parameter_types
from ganeti_tx.cli.declared_parameters import words_of
from ganeti_tx.model.params.backend import MEMORY, BackendParams
from ganeti_tx.model.params.ipolicy import ISpec
from ganeti_tx.model.params.nic import NicParams
from ganeti_tx.model.params.node import NodeParams


class TableTests(SynchronousTestCase):
    """Names and types."""

    def test_declared(self) -> None:
        """Backend, node and NIC parameters, with the word of old clients for memory."""
        self.assertEqual(parameter_types.BACKEND, {**words_of(BackendParams), MEMORY: "size"})
        self.assertEqual(parameter_types.NODE, words_of(NodeParams))
        self.assertEqual(parameter_types.NIC, words_of(NicParams))

    def test_policy(self) -> None:
        """The keys of instance specifications."""
        self.assertEqual(parameter_types.ISPEC_KEYS.keys(), words_of(ISpec).keys())
