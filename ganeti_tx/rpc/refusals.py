"""Why a node does not take a call: what the caller must be able to tell apart, besides Ganeti's own errors."""

from collections.abc import Sequence
from http import HTTPStatus

from ganeti_tx.errors import RemoteError


class CallRefused(RemoteError):
    """The node did not begin the call."""


class NotCandidate(CallRefused):
    """The caller's certificate is none of a master candidate's by the node's files."""


class AnotherIsMaster(CallRefused):
    """The node follows another master than the caller, or has heard of a later term than that of the call."""


class UnknownCaller(CallRefused):
    """Only the master may make the call, and the caller is not known, or shows the stamp of another node."""


class NoStamp(CallRefused):
    """Only the master may make the call, and it has no stamp of one: an older version of this program sends none."""


class CallTooLate(CallRefused):
    """A call that was sent later, for the same thing, has been done before."""


class UnknownCall(CallRefused):
    """The node daemon has no such call."""


class BadArguments(CallRefused):
    """What came is not such a call, or more than such a call may carry."""


KINDS: Sequence[type[CallRefused]] = (CallRefused, *CallRefused.__subclasses__())
#: By its name on the wire.
REFUSALS = {kind.__name__: kind for kind in KINDS}
#: The HTTP status of refusals that come before a call is read, and of one that a caller must understand who does not know how
#: errors are written today.
BY_STATUS: dict[int, type[CallRefused]] = {
    HTTPStatus.FORBIDDEN: NotCandidate,
    HTTPStatus.NOT_FOUND: UnknownCall,
    HTTPStatus.BAD_REQUEST: BadArguments,
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: BadArguments,
    HTTPStatus.UPGRADE_REQUIRED: NoStamp,
}
#: What the caller adds to a refusal, for whoever reads it.
ADVICE: dict[type[CallRefused], str] = {
    UnknownCall: "; another version of this program runs there: install the same on all nodes and restart their daemons",
}
