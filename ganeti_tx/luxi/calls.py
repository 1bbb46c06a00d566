"""Every LUXI method of Ganeti, for clients that block."""

from ganeti_tx.luxi.declared import Blocking
from ganeti_tx.luxi.methods import Methods


class Calls(Methods, Blocking):
    """The methods by name; who inherits brings `call`."""
