"""The text form of query filters (Ganeti 3.0 query table, text language) to the lists that the server takes."""

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from ganeti_tx.errors import QueryFilterParseError

Filter = list[Any]

#: Longest text taken, and deepest nesting of parentheses and "not".
MAX_LENGTH = 64 * 1024
MAX_DEPTH = 50

#: Patterns are compiled when first used: most commands need none.
_TOKEN = r"""(?xs)\s*(?:
      (?P<number>[+-]?[0-9]{1,18}(?![\w.]))
    | (?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
    | (?P<operator>==|!=|<=|>=|=~|!~|=\*|!\*|=|<|>)
    | (?P<parenthesis>[()])
    | (?P<word>[A-Za-z][A-Za-z0-9_/.]*)
    | (?P<end>\Z)
    )"""
_REGEXP = r"(?s)\s*(?:m\s*)?(?P<quote>[/#^|])(?P<body>(?:\\.|(?!(?P=quote)).)*)(?P=quote)(?P<flags>\w*)"
_COMPARISONS = {"=": "==", "==": "==", "!=": "!=", "<": "<", ">": ">", "<=": "<=", ">=": ">="}
_OPERATORS = ("==", "!=", "<", "<=", ">", ">=", "=~", "!~", "=*", "!*")
_KEYWORDS = ("and", "or", "not", "in")


class _Token(NamedTuple):
    kind: str
    text: str
    start: int
    end: int


def parse_filter(text: str) -> Filter:
    """The filter a text says, such as `name == "x" and (be/memory > 512 or "web" in tags)`.

    @raise QueryFilterParseError: with the column, counted from 1, and what could stand there.
    """
    if len(text) > MAX_LENGTH:
        raise QueryFilterParseError(f"Filter of {len(text)} characters is too long, at most {MAX_LENGTH} are allowed")
    parser = _FilterParser(text)
    found = parser.disjunction()
    parser.expect_end()
    return found


class _FilterParser:
    """Descends through the text: one token is looked at, `_next` takes it."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._depth = 0
        #: Where one could stand, behind a field that stands alone.
        self._without_operator = -1
        self._token = self._scan(0)

    def disjunction(self) -> Filter:
        """`and` binds closer than `or`."""
        return self._joined("|", "or", self._conjunction)

    def expect_end(self) -> None:
        """Nothing may follow."""
        if self._token.kind != "end":
            raise self._error("'and', 'or' or the end")

    def _conjunction(self) -> Filter:
        return self._joined("&", "and", self._negation)

    def _joined(self, operator: str, word: str, operand: Callable[[], Filter]) -> Filter:
        operands = [operand()]
        while self._is_word(word):
            self._next()
            operands.append(operand())
        return operands[0] if len(operands) == 1 else [operator, *operands]

    def _negation(self) -> Filter:
        if not self._is_word("not"):
            return self._condition()
        self._next()
        return ["!", self._nested(self._negation)]

    def _nested(self, inner: Callable[[], Filter]) -> Filter:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise QueryFilterParseError(f"Filter is nested deeper than {MAX_DEPTH} levels")
        found = inner()
        self._depth -= 1
        return found

    def _condition(self) -> Filter:
        token = self._token
        if token.text == "(" and token.kind == "parenthesis":
            return self._parenthesized()
        if token.kind in ("text", "number"):
            return self._contained()
        if token.kind == "word" and token.text not in _KEYWORDS:
            return self._compared()
        raise self._error("a field, a value in quotes, 'not' or '('")

    def _parenthesized(self) -> Filter:
        self._next()
        found = self._nested(self.disjunction)
        if self._token.text != ")":
            raise self._error("')'")
        self._next()
        return found

    def _contained(self) -> Filter:
        value = self._value()
        negated = self._is_word("not")
        if negated:
            self._next()
        if not self._is_word("in"):
            raise self._error("'in' or 'not in'")
        self._next()
        found = ["=[]", self._field(), value]
        return ["!", found] if negated else found

    def _compared(self) -> Filter:
        field = self._field()
        operator = self._token.text if self._token.kind == "operator" else None
        if operator is None:
            self._without_operator = self._token.start
            return ["?", field]
        if operator in ("=~", "!~"):
            return _negated_if(operator == "!~", ["=~", field, self._regexp()])
        self._next()
        if operator in ("=*", "!*"):
            return _negated_if(operator == "!*", ["=~", field, glob_to_regexp(self._pattern())])
        return [_COMPARISONS[operator], field, self._value()]

    def _field(self) -> str:
        if self._token.kind != "word" or self._token.text in _KEYWORDS:
            raise self._error("the name of a field")
        return self._next().text

    def _value(self) -> str | int:
        if self._token.kind == "number":
            return int(self._next().text)
        if self._token.kind == "text":
            return _unquoted(self._next().text)
        raise self._error("an integer or a text in quotes")

    def _pattern(self) -> str:
        if self._token.kind != "text":
            raise self._error("a pattern in quotes")
        return _unquoted(self._next().text)

    def _regexp(self) -> str:
        """The expression that follows the operator at hand, which no token describes."""
        match = re.compile(_REGEXP).match(self._text, self._token.end)
        if match is None:
            self._token = _Token("", "", self._token.end, self._token.end)
            raise self._error("a regular expression such as m/web.*/ or /web.*/i")
        flags = "".join(sorted(set(match["flags"])))
        if set(flags) - set("si"):
            self._token = _Token("", "", match.start("flags"), match.end("flags"))
            raise self._error("only the flags s and i")
        self._token = self._scan(match.end())
        return f"(?{flags}){match['body']}" if flags else match["body"]

    def _is_word(self, word: str) -> bool:
        return self._token.kind == "word" and self._token.text == word

    def _next(self) -> _Token:
        token, self._token = self._token, self._scan(self._token.end)
        return token

    def _scan(self, position: int) -> _Token:
        match = re.compile(_TOKEN).match(self._text, position)
        if match is None or match.lastgroup is None:
            start = position + len(self._text[position:]) - len(self._text[position:].lstrip())
            return _Token("unknown", self._text[start : start + 1], start, start + 1)
        return _Token(match.lastgroup, match[match.lastgroup], match.start(match.lastgroup), match.end())

    def _error(self, wanted: str) -> QueryFilterParseError:
        start = self._token.start
        if start == self._without_operator:
            wanted = f"an operator ({', '.join(_OPERATORS)}), {wanted}"
        rest = self._text[start : start + 20]
        got = repr(rest) if rest else "the end"
        return QueryFilterParseError(f"Filter {self._text!r}: expected {wanted} at column {start + 1}, found {got}")


def _negated_if(negate: bool, found: Filter) -> Filter:
    return ["!", found] if negate else found


def _unquoted(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text[1:-1], flags=re.DOTALL)


def glob_to_regexp(pattern: str) -> str:
    """`*` and `?` as in file names, over the whole text."""
    return f"^{_translated(pattern, '.')}$"


def name_glob_to_regexp(pattern: str) -> str:
    """`*` and `?` stay within one component of a name; domains that follow need not be given."""
    return rf"^{_translated(pattern, '[^.]')}(\..*)?$"


def _translated(pattern: str, any_character: str) -> str:
    wild = {"*": f"{any_character}*", "?": any_character}
    return "".join(wild.get(character) or re.escape(character) for character in pattern)
