"""Text that anybody may have said, as it may stand in an error."""


def printable(text: str, most: int) -> str:
    """Its beginning; what a terminal would obey, or cannot show, is a space."""
    return "".join(each if each.isprintable() else " " for each in text[:most])


def printable_lines(said: bytes) -> list[str]:
    """The lines that a program has written which runs on another machine; each may go to a terminal."""
    return [printable(line, len(line)) for line in said.decode("utf-8", "replace").splitlines()]
