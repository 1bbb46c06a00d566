"""What was sent is remembered with the answers of LUXI that it was made of, and sent again as long as those are the same.

Each request asks anew, so nothing is ever out of date; what is saved is the reading, the making and the compressing.
"""

from collections import OrderedDict
from collections.abc import Hashable

from attrs import define, field, frozen

from ganeti_tx.rapi.asking.recording import Exchange, Luxi
from ganeti_tx.rapi.http.representation import Representation

MOST = 64 * 1024 * 1024


@frozen
class Remembered:
    """A representation, and what it was made of; `named` is the length of what was requested."""

    asked: list[Exchange]
    representation: Representation
    named: int

    @property
    def size(self) -> int:
        """In bytes; of what is sent twice as much, as it may yet be compressed."""
        asked = sum(len(each.question) + len(each.answer) for each in self.asked)
        return 1024 + self.named + asked + 2 * len(self.representation.body)


@define(eq=False)
class Memory:
    """Representations by what was requested; evicted first is what has not been of use for longest.

    @ivar most: bytes that may be remembered.
    """

    most: int = MOST
    _known: OrderedDict[Hashable, Remembered] = field(factory=OrderedDict)
    _size: int = 0

    async def recall(self, key: Hashable, luxi: Luxi) -> tuple[Representation | None, dict[bytes, bytes]]:
        """Ask LUXI what was asked last time; the representation if it says the same, and the answers in any case."""
        remembered = self._known.get(key)
        if remembered is None:
            return None, {}
        answers: dict[bytes, bytes] = {}
        for question, answer in remembered.asked:
            answers[question] = await luxi.ask(question)
            if answers[question] != answer:
                break
        else:
            if key in self._known:
                self._known.move_to_end(key)
            return remembered.representation, answers
        # Somebody who asked with us may have had the same answers, and have been quicker.
        newer = self._known.get(key)
        if newer is not None and dict(newer.asked) == answers:
            return newer.representation, answers
        return None, answers

    def keep(self, key: Hashable, asked: list[Exchange] | None, representation: Representation) -> None:
        """Remember it, unless it is too large or was made of other things than answers."""
        self._forget(key)
        made = Remembered(asked, representation, len(str(key))) if asked else None
        if made is None or made.size > self.most // 2:
            return
        self._known[key] = made
        self._size += made.size
        while self._size > self.most:
            self._forget(next(iter(self._known)))

    def _forget(self, key: Hashable) -> None:
        old = self._known.pop(key, None)
        if old is not None:
            self._size -= old.size
