"""What the master refuses because of the request is the client's fault, and is told as such."""

from attrs import evolve

from ganeti_tx.errors import ECode, OpPrereqError, ParameterError, QueryFilterParseError
from ganeti_tx.rapi.http.http_errors import HttpError, bad_request, not_found
from ganeti_tx.rapi.operations.operation import Call, Operation


def with_clear_refusals(operation: Operation) -> Operation:
    """The operation with errors of LUXI that a better request would avoid as 400 and 404; Ganeti 3.0 answers 500."""
    run = operation.run

    async def clear(call: Call) -> object:
        try:
            return await run(call)
        except (OpPrereqError, ParameterError, QueryFilterParseError) as error:
            raise refusal(error, operation) or error from None

    return evolve(operation, run=clear)


def refusal(error: OpPrereqError | ParameterError | QueryFilterParseError, operation: Operation) -> HttpError | None:
    """What the client is told; None where another request would not help. What a new job refers to is not what the path
    names, so it is no 404.
    """
    if not isinstance(error, OpPrereqError):
        return bad_request(str(error))
    if error.ecode is ECode.NOENT and not operation.submits:
        return not_found(str(error))
    return bad_request(str(error)) if error.ecode in (ECode.INVAL, ECode.NOENT) else None
