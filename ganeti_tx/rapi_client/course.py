"""The course of one call: its steps, with answers kept before and what may be tried again tried again."""

from collections.abc import Generator
from typing import Any, TypeVar

from ganeti_tx.rapi_client.cache import Cache, conditional
from ganeti_tx.rapi_client.errors import CertificateError, NoAnswerError
from ganeti_tx.rapi_client.message import Action, Message, Pause, Reply, Step

T = TypeVar("T")

#: How often a safe request is sent again.
RETRIES = 2
#: Seconds before the first repetition; each further one waits twice as long.
FIRST_PAUSE = 0.5
#: A server that wants to be left alone for longer is not asked again.
LONGEST_PAUSE = 30
_BUSY = (429, 503)


def course(action: Action[T], cache: Cache, retries: int = RETRIES) -> Generator[Step, Any, T]:
    """The steps that are really taken. Errors of sending a message are to be thrown in; the action may outlast them."""
    steps = action.steps()
    try:
        step = next(steps)
        while True:
            try:
                reply = (yield from _answered(step, cache, retries)) if isinstance(step, Message) else (yield step)
            except NoAnswerError as error:
                step = steps.throw(error)
            else:
                step = steps.send(reply)
    except StopIteration as end:
        result: T = end.value
        return result


def _answered(message: Message, cache: Cache, retries: int) -> Generator[Step, Any, Reply]:
    left = retries if message.safe else 0
    pause = FIRST_PAUSE
    while True:
        known = cache.known(message)
        try:
            reply: Reply = yield conditional(message, known)
        except CertificateError:
            raise
        except NoAnswerError:
            if not left:
                raise
            wait: float | None = pause
        else:
            wait = _asked_to_wait(reply)
            if not left or wait is None:
                return cache.settled(message, known, reply)
        yield Pause(wait or 0)
        left -= 1
        pause *= 2


def _asked_to_wait(reply: Reply) -> float | None:
    """For how long a busy server wants to be left alone; None when it does not, or for too long."""
    after = reply.headers.get("retry-after", "")
    if reply.status not in _BUSY or not (after.isascii() and after.isdigit()):
        return None
    seconds = int(after[:9])
    return seconds if seconds <= LONGEST_PAUSE else None
