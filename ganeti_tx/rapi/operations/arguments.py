"""Query arguments as values; what cannot be read is refused with its name and what is allowed."""

from collections import Counter
from collections.abc import Sequence

from ganeti_tx.rapi.http.http_errors import bad_request
from ganeti_tx.rapi.operations.operation import Argument, Call

#: Characters of a bad value that are shown.
SHOWN = 60
#: So often one field may be asked for in one request.
MOST_REPEATS = 3

DRY_RUN = Argument("dry-run", "flag", meaning="Only check whether it could be done")
FORCE = Argument("force", "flag", meaning="Do it although checks advise against it")
REASON = Argument("reason", meaning="Why; kept in the job's reason trail")
BULK = Argument("bulk", "flag", meaning="Whole objects in place of names and addresses")
LOCK = Argument("lock", "flag", meaning="Without effect: queries never wait for locks")


def text(call: Call, name: str) -> str | None:
    """The first value, None without any."""
    values = call.arguments.get(name)
    return values[0] if values else None


def required_text(call: Call, name: str) -> str:
    """The first value. @raise HttpError: there is none (400)."""
    value = text(call, name)
    if not value:
        raise bad_request(f"argument '{name}' is missing; give it as ?{name}=...")
    return value


def number(call: Call, name: str) -> int | None:
    """The first value as an int, None without any or with a blank one. @raise HttpError: it is none (400)."""
    value = text(call, name)
    if not value:
        return None
    try:
        return int(value)
    except ValueError:
        raise bad_request(f"argument '{name}': expected an integer such as 0 or 1, got '{value:.{SHOWN}}'") from None


def flag(call: Call, name: str) -> bool:
    """Whether the integer is not 0; without one it is not set."""
    return bool(number(call, name))


def optional_flag(call: Call, name: str) -> bool | None:
    """As `flag`, None without a value."""
    value = number(call, name)
    return None if value is None else bool(value)


def listed(call: Call, name: str) -> list[str]:
    """The parts between commas of all values."""
    return [part for value in call.arguments.get(name, ()) for part in value.split(",") if part]


def check_repeats(fields: Sequence[str]) -> None:
    """@raise HttpError: a field is asked for again and again, which would make the answer as large as one likes (400)."""
    for name, times in Counter(fields).items():
        if times > MOST_REPEATS:
            raise bad_request(f"field '{name:.{SHOWN}}' is asked for {times} times; allowed are {MOST_REPEATS}")
