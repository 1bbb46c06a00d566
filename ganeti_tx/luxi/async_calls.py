"""Every LUXI method, for clients that wait without blocking."""

from ganeti_tx.luxi.declared import Waiting
from ganeti_tx.luxi.methods import Methods
from ganeti_tx.luxi.own_methods import OwnMethods


class AsyncCalls(Methods, OwnMethods, Waiting):
    """The methods by name; who inherits brings `call`."""
