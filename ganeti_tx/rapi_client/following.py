"""Following the cluster's events over connections that come and go, without any I/O."""

from collections.abc import Sequence
from typing import get_args

import msgspec
from attrs import frozen

from ganeti_tx.model.events import AnyEvent
from ganeti_tx.rapi_client.backoff import FIRST_PAUSE, LONGEST_PAUSE, Backoff
from ganeti_tx.rapi_client.errors import AnswerError, ClientError, shortened
from ganeti_tx.rapi_client.message import Message
from ganeti_tx.rapi_client.request import Request, text
from ganeti_tx.sse import CONTENT_TYPE, SseError, SseEvent, SseParser

#: The id of no event: who asks for what comes after it is told first, by a GapEvent, to read everything.
UNKNOWN = "none-0"
#: What newer servers tell besides is left out.
_KINDS = {str(kind.__struct_config__.tag) for kind in get_args(AnyEvent)} | {"message"}
_decoder: msgspec.json.Decoder[AnyEvent] = msgspec.json.Decoder(AnyEvent)


@frozen
class Happened:
    """One event, and the id from which on others can be asked for."""

    id: str
    event: AnyEvent


class Following:
    """Where somebody stands in the stream of events."""

    def __init__(self, after: str | None, kinds: Sequence[str], objects: Sequence[str]) -> None:
        self._kinds = list(kinds)
        self._objects = list(objects)
        self._parser = SseParser(last_id=after or "")
        self._backoff = Backoff()
        self._begun = False
        #: Seconds to wait before the next connection.
        self.pause = FIRST_PAUSE

    @property
    def message(self) -> Message:
        """The request for what comes next."""
        query = {"kind": ",".join(self._kinds) or None, "object": ",".join(self._objects) or None}
        headers = [("Accept", CONTENT_TYPE)]
        if self._parser.last_id:
            headers.append(("Last-Event-ID", self._parser.last_id))
        return Request("GET", "/2/events", text, query, headers=tuple(headers)).message

    def received(self, data: bytes) -> list[Happened]:
        """The events that are complete now. @raise AnswerError: it is no stream of events."""
        try:
            events = self._parser.feed(data)
        except SseError as error:
            raise AnswerError(f"The stream of events cannot be read: {error}") from None
        if data:  # a client that blocks also tells of headers
            self._begun = True
            self._backoff = Backoff()
        return [Happened(each.id, _decoded(each)) for each in events if each.event in _KINDS]

    def lost(self, error: ClientError | None = None) -> None:
        """The connection is lost, or was not made. @raise ClientError: the error, when trying again does not help."""
        self._parser.lost()
        told = FIRST_PAUSE if self._parser.retry is None else self._parser.retry / 1000
        if error is None:
            self.pause = min(told, LONGEST_PAUSE)
        elif not self._begun:
            raise error
        else:
            self.pause = self._backoff.after(error, max(told, FIRST_PAUSE))


def _decoded(event: SseEvent) -> AnyEvent:
    try:
        return _decoder.decode(event.data)
    except (msgspec.DecodeError, RecursionError) as error:
        raise AnswerError(f"An event cannot be read: {error}: {shortened(event.data)}") from None
