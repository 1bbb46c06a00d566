"""The seam between node calls and the connections over which they go."""

from twisted.internet.defer import Deferred
from zope.interface import Interface

from ganeti_tx.rpc.http.answer import Answer


class INodeAgent(Interface):
    """Sends requests to node daemons, with the keys of this node."""

    def ask(host: str, port: int, name: str, body: bytes, limit: int) -> "Deferred[Answer]":
        """Send the call of this name there, and give what comes back; whoever cancels it hangs up.

        A request goes out once: whether one that was broken off has been done nobody knows. Of the answer's body there may be
        `limit` bytes. It fails with BadAnswer, AnswerTooLong, or whatever kept the connection from being made, or broke it.
        """

    def start_anew() -> None:
        """Use no connection that is there for a call that comes; calls under way go on. @raise OSError, X509CertError"""
