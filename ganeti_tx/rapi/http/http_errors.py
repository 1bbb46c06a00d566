"""Answers that are not success: a status, one line for the reader, and headers that belong to it."""

from collections.abc import Mapping
from http import HTTPStatus

from attrs import field, frozen


@frozen
class HttpError(Exception):
    """Raised anywhere below a request; the edge makes the error body of it (Ganeti 3.0 RAPI table, error_body)."""

    status: HTTPStatus
    #: Without one the status's standard phrase is sent.
    message: str | None = None
    headers: Mapping[str, str] = field(factory=dict)

    def __str__(self) -> str:
        return self.message or self.status.phrase


def bad_request(message: str) -> HttpError:
    """400: what was sent cannot be taken; the text names the bad value and what is allowed."""
    return HttpError(HTTPStatus.BAD_REQUEST, message)


def not_found(message: str | None = None) -> HttpError:
    """404: no such resource."""
    return HttpError(HTTPStatus.NOT_FOUND, message)


def forbidden(message: str) -> HttpError:
    """403: who asks may not do that, whatever he sends."""
    return HttpError(HTTPStatus.FORBIDDEN, message)


def unavailable(message: str) -> HttpError:
    """503: not now, perhaps later."""
    return HttpError(HTTPStatus.SERVICE_UNAVAILABLE, message)


def bad_gateway(message: str) -> HttpError:
    """502: the master answered, but not what was needed."""
    return HttpError(HTTPStatus.BAD_GATEWAY, message)


def gateway_timeout(message: str) -> HttpError:
    """504: the master's answer took too long."""
    return HttpError(HTTPStatus.GATEWAY_TIMEOUT, message)
