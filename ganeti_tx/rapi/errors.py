"""Which status an error becomes (Ganeti 3.0 RAPI table, error_mapping)."""

from http import HTTPStatus

from werkzeug.exceptions import MethodNotAllowed, NotFound
from werkzeug.routing import RequestRedirect

from ganeti_tx.errors import (
    ECode,
    GanetiError,
    JobCanceled,
    JobQueueDrainError,
    JobQueueFull,
    OpCodeUnknown,
    OpPrereqError,
    one_line,
)
from ganeti_tx.luxi import transport_errors
from ganeti_tx.rapi.http.http_errors import HttpError

#: The first that fits counts, so the narrower classes come first.
STATUSES: tuple[tuple[type[Exception], HTTPStatus], ...] = (
    (NotFound, HTTPStatus.NOT_FOUND),
    (RequestRedirect, HTTPStatus.NOT_FOUND),
    (MethodNotAllowed, HTTPStatus.NOT_IMPLEMENTED),
    (OpCodeUnknown, HTTPStatus.NOT_IMPLEMENTED),
    (JobCanceled, HTTPStatus.FORBIDDEN),  # the rights of who asks were taken away meanwhile
    (JobQueueDrainError, HTTPStatus.SERVICE_UNAVAILABLE),
    (JobQueueFull, HTTPStatus.SERVICE_UNAVAILABLE),
    (transport_errors.TimeoutError, HTTPStatus.GATEWAY_TIMEOUT),
    (transport_errors.PermissionError, HTTPStatus.INTERNAL_SERVER_ERROR),
    (transport_errors.ProtocolError, HTTPStatus.BAD_GATEWAY),
)
#: Refusals that are the caller's fault; Ganeti 3.0 answers 500, as if they were the server's.
REFUSALS = {ECode.NOENT: HTTPStatus.NOT_FOUND, ECode.INVAL: HTTPStatus.BAD_REQUEST}
INTERNAL = "internal error; the log of ganeti-rapi on the master node has more"


def http_error(error: BaseException) -> HttpError | None:
    """The answer that an error becomes; None for a fault of this program, of which clients learn nothing."""
    if isinstance(error, HttpError):
        return error
    for kind, status in STATUSES:
        if isinstance(error, kind):
            return HttpError(status, one_line(error) if isinstance(error, GanetiError) else None)
    if isinstance(error, OpPrereqError) and error.ecode in REFUSALS:
        return HttpError(REFUSALS[error.ecode], str(error))
    if isinstance(error, GanetiError):
        return HttpError(HTTPStatus.INTERNAL_SERVER_ERROR, stock_text(error))
    return None


def stock_text(error: GanetiError) -> str:
    """As Ganeti writes an error: the only argument, or all of them as a tuple, which programs take apart."""
    if len(error.args) > 1:
        return one_line(tuple(str(each) if isinstance(each, str) else each for each in error.args))
    return str(error)
