"""Files that the operator names, read as text with a limit."""

from typing import TextIO

from ganeti_tx.errors import ECode, OpPrereqError

MAX_CHARACTERS = 16 * 1024 * 1024
STANDARD_INPUT = "-"


def read_text(path: str, stdin: TextIO) -> str:
    """A file's text; "-" is standard input.

    @raise OpPrereqError: it cannot be read, is no UTF-8, or has more than 16 Mi characters.
    """
    try:
        if path == STANDARD_INPUT:
            text = stdin.read(MAX_CHARACTERS + 1)
        else:
            with open(path, encoding="utf-8") as file:
                text = file.read(MAX_CHARACTERS + 1)
    except OSError as error:
        raise OpPrereqError(f"Cannot read {path!r}: {error.strerror}", ECode.INVAL) from None
    except UnicodeDecodeError:
        raise OpPrereqError(f"Cannot read {path!r}: it is not text in UTF-8", ECode.INVAL) from None
    if len(text) > MAX_CHARACTERS:
        raise OpPrereqError(f"{path!r} is too long: at most {MAX_CHARACTERS} characters are read", ECode.INVAL)
    return text
