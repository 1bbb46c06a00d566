"""Node calls over HTTPS: one POST a call, connections kept warm, every failure one clear error."""

import errno
from collections.abc import Iterable, Mapping
from http import HTTPStatus

from attrs import define
from twisted.internet.defer import CancelledError, Deferred, TimeoutError
from twisted.internet.error import ConnectionDone, ConnectionLost, ConnectionRefusedError
from twisted.internet.error import TimeoutError as ConnectTimeout
from twisted.internet.interfaces import IReactorTime
from twisted.python.failure import Failure
from zope.interface import implementer

from ganeti_tx.model.node_port import NODE_PORT
from ganeti_tx.rpc.calls.base import NodeCall
from ganeti_tx.rpc.each_node import on_each
from ganeti_tx.rpc.http.answer import Answer
from ganeti_tx.rpc.http.errors import AnswerTooLong, Unheard
from ganeti_tx.rpc.http.interfaces import INodeAgent
from ganeti_tx.rpc.interfaces import (
    INodeRpc,
    NodeCallError,
    NodeOfflineError,
    NodeUnreachableError,
    Outcome,
    R,
    Target,
)
from ganeti_tx.rpc.refusals import ADVICE, BY_STATUS, CallRefused
from ganeti_tx.rpc.wire import decode_answer, encode_call
from ganeti_tx.runtime.daemon_control import DaemonControl
from ganeti_tx.runtime.daemon_names import NODE

CONNECT_LIMIT = 5.0
#: What the system says of an address that nobody has.
NOBODY_THERE = (errno.EHOSTUNREACH, errno.ENETUNREACH, errno.EHOSTDOWN, errno.ETIMEDOUT)


def _too_late(result: object, limit: float) -> Failure:
    """Whatever the cut-off exchange ended with, it ended because of the time limit."""
    return Failure(TimeoutError(limit))


@implementer(INodeRpc)
@define
class HttpNodeRpc:
    """Calls nodes through an agent, which holds the connections and the TLS identity."""

    agent: INodeAgent
    clock: IReactorTime
    port: int = NODE_PORT

    async def call(self, node: Target, call: NodeCall[R], timeout: float | None = None) -> R:
        """As INodeRpc says."""
        if node.offline:
            raise NodeOfflineError(f"node {node.name} is marked offline; {call.name} was not sent")
        body = encode_call(call)
        limit = timeout if timeout is not None else call.time_limit()
        try:
            answer = await self._exchange(node, call, body, limit)
        except CancelledError:
            raise
        except TimeoutError:
            raise NodeUnreachableError(
                f"node {node.name} did not answer {call.name} within {limit:.0f} s",
                f"did not answer within {limit:.0f} s",
            )
        except AnswerTooLong as error:
            raise NodeUnreachableError(f"node {node.name} answers {call.name} with {error}")
        except Exception as error:
            raise NodeUnreachableError(
                f"cannot reach node {node.name} ({node.primary_ip}) for {call.name}: {reason(error)}", reason(error)
            )
        if answer.status != HTTPStatus.OK:
            raise refused(node, call, answer)
        return decode_answer(node.name, call, answer.body)

    async def _exchange(self, node: Target, call: NodeCall[object], body: bytes, limit: float) -> Answer:
        """The answer, within so many seconds for all that it takes."""
        end = self.clock.seconds() + limit
        answer = await self._ask(node, call, body, limit)
        if answer.status == HTTPStatus.FORBIDDEN:
            # nothing was begun; the certificate with which the connection was made may have been replaced meanwhile
            self.agent.start_anew()
            answer = await self._ask(node, call, body, max(0.0, end - self.clock.seconds()))
        return answer

    def _ask(self, node: Target, call: NodeCall[object], body: bytes, limit: float) -> "Deferred[Answer]":
        asking = self.agent.ask(node.primary_ip, self.port, call.name, body, call.max_response)
        return asking.addTimeout(limit, self.clock, onTimeoutCancel=_too_late)

    async def call_many(
        self, nodes: Iterable[Target], call: NodeCall[R], timeout: float | None = None
    ) -> Mapping[str, Outcome[R]]:
        """As INodeRpc says."""
        return await on_each(nodes, lambda node: self.call(node, call, timeout))


def refused(node: Target, call: NodeCall[object], answer: Answer) -> NodeCallError:
    """What a status other than success says."""
    text = answer.body[:500].decode("utf-8", "replace").strip()
    kind = BY_STATUS.get(answer.status, CallRefused)
    words = f"{text}{ADVICE.get(kind, '')}"
    return NodeCallError(f"node {node.name} refused {call.name} with HTTP status {answer.status}: {words}", kind(words))


def reason(error: Exception) -> str:
    """One line for whoever made the call."""
    if isinstance(error, ConnectionRefusedError):
        return f"its node daemon does not run; start it there with '{DaemonControl.here().command('start', NODE)}'"
    if isinstance(error, ConnectTimeout | Unheard) or getattr(error, "osError", None) in NOBODY_THERE:
        return (
            "nothing answers at its address; while it is down, 'gnt-node modify --offline=yes' has it left out (--force, if it"
            " is the primary node of instances)"
        )
    if isinstance(error, ConnectionDone | ConnectionLost):
        return "the connection broke off before it answered; what it has done by then is not known"
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0]
