"""The program for the type checker leaves nothing out."""

import ast
import inspect

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.rapi_client import Client
from ganeti_tx.test.rapi_client import typed_use


class TypedUseTests(SynchronousTestCase):
    """What mypy sees of the clients."""

    def test_complete(self) -> None:
        """Every public method is used."""
        tree = ast.parse(inspect.getsource(typed_use))
        used = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        public = {name for name in dir(Client) if not name.startswith("_")}
        self.assertEqual(public - used, set())
