"""What is wrong with an answer; the texts are for whoever made the call, who names the node."""


class BadAnswer(Exception):
    """What came is no HTTP/1.1, or more of it than node daemons speak."""


class AnswerTooLong(Exception):
    """A node sends more than the call admits."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"more than {limit} bytes")


class Unheard(Exception):
    """Nothing of a request has been seen to arrive."""


def shown(data: bytes) -> str:
    """The beginning of bytes that should be something else, harmless on every terminal."""
    return ascii(data[:60].decode("latin-1"))
