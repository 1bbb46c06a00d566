"""What machines say, as a terminal may show it."""

import re

#: Letters of all languages are shown; what a terminal would obey, or cannot show, is not.
_OTHER = re.compile(r"[^\x20-\x7e\n\t]")


def showable(text: str, encoding: str) -> str:
    """With escapes for control characters and for what the encoding of the output lacks."""
    plain = _OTHER.sub(lambda found: escaped(found[0]), text.replace("\r\n", "\n"))
    return plain.encode(encoding, "backslashreplace").decode(encoding)


def escaped(character: str) -> str:
    """Itself, where it is seen as what it is."""
    if character.isprintable():
        return character
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
