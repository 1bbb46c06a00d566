"""Text in the language of man(7)."""

from collections.abc import Iterable, Iterator

from ganeti_tx import __version__

Lines = Iterable[str]


def page(name: str, about: str, body: Lines) -> str:
    """A page of section 8."""
    head = [f'.TH {name.upper()} 8 "" "ganeti_tx {__version__}" ganeti_tx', ".nh", ".ad l", ".SH NAME"]
    return "\n".join([*head, f"{escaped(name)} \\- {escaped(about)}", *body]) + "\n"


def section(title: str, body: Lines) -> Iterator[str]:
    """A section; one without content is left out."""
    lines = list(body)
    if lines:
        yield f".SH {title}"
        yield from lines


def subsection(title: str, body: Lines) -> Iterator[str]:
    """A part of a section."""
    yield f'.SS "{escaped(title)}"'
    yield from body


def paragraphs(text: str) -> Iterator[str]:
    """Prose; lines that are indented are shown as they stand."""
    for block in text.strip("\n").split("\n\n"):
        lines = block.split("\n")
        if any(line.startswith(" ") for line in lines):
            yield from (".PP", ".nf", *map(escaped, lines), ".fi")
        elif block.strip():
            yield from (".PP", *map(escaped, lines))


def tagged(term: str, text: str) -> Iterator[str]:
    """A term in bold and what it means."""
    yield from (".TP", bold(term), escaped(text))


def bold(text: str) -> str:
    """Text in bold."""
    return f"\\fB{_inner(text)}\\fR"


def escaped(text: str) -> str:
    """One line of text, of which nothing is taken for a request."""
    return f"\\&{_inner(text)}" if text.startswith((".", "'")) else _inner(text)


def _inner(text: str) -> str:
    """Hyphens as those that are typed, so that examples can be copied."""
    return text.replace("\\", "\\e").replace("-", "\\-").replace('"', "\\(dq")
