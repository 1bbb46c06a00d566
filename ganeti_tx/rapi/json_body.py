"""The JSON that comes with a request."""

from http import HTTPStatus
from typing import Any

import msgspec

from ganeti_tx.luxi.request_bounds import OutOfBounds, check_count, check_shape
from ganeti_tx.rapi.http.answers import JSON
from ganeti_tx.rapi.http.http_errors import HttpError, bad_request
from ganeti_tx.rapi.operations.operation import Operation
from ganeti_tx.rapi.request import RapiRequest


def read_body(operation: Operation, request: RapiRequest) -> Any:
    """The body, read; None without any. @raise HttpError: 415, it is of another type; 400, it cannot be taken"""
    body = request.body()
    if not body:
        if operation.body_required:
            raise bad_request(f"{operation.method} {operation.path} needs a body of JSON")
        return None
    kind = (request.getHeader("content-type") or "").partition(";")[0].strip()
    if kind.lower() != JSON:
        raise HttpError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"a body must have the Content-Type {JSON}, not {kind!r}")
    try:
        check_count(body)
        value = msgspec.json.decode(body)
        check_shape([value])
    except OutOfBounds as error:
        raise bad_request(f"the body holds what cannot be taken: {error}")
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise bad_request(f"the body is not JSON: {error}")
    except RecursionError:
        raise bad_request("the body holds too much: it is nested too deep")
    return value
