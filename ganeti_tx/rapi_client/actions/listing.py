"""Lists of names, which the Remote API gives as objects that also say where each thing is."""

from typing import Any

from ganeti_tx.rapi_client.errors import AnswerError
from ganeti_tx.rapi_client.message import Reply
from ganeti_tx.rapi_client.request import Request, json_of

_read = json_of(list[dict[str, Any]])


def names(where: str, key: str) -> Request[list[str]]:
    """A request for the value of one key of every object in a list."""

    def read(reply: Reply) -> list[str]:
        try:
            return [str(each[key]) for each in _read(reply)]
        except KeyError:
            raise AnswerError(f"The answer of {where} has an object without {key!r}") from None

    return Request("GET", where, read, safe=True)
