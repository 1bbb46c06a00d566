"""Why nothing is at a place of the configuration: how far there is something, and what stands there."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from ganeti_tx.confd import questions
from ganeti_tx.confd.pointer import steps_of
from ganeti_tx.confd.poll import WRONG_QUESTION
from ganeti_tx.confd.questions import Question
from ganeti_tx.errors import ConfdClientError, ParameterError
from ganeti_tx.model.config_data import ConfigData
from ganeti_tx.model.nearest import did_you_mean

Ask = Callable[[Question[Any]], Any]

#: So many names are told of what stands at a place.
_TOLD = 20
#: What a place has of which it is only known that there is something.
_UNKNOWN = object()


def why_nothing(pointer: str, ask: Ask) -> str:
    """The first step that leads nowhere. @param ask: the value of an answer. @raise ConfdClientError: there is none."""
    try:
        steps = steps_of(pointer)
    except ParameterError as error:
        return str(error)
    value: Any = {field.encode_name: None for field in msgspec.structs.fields(ConfigData)}
    place, places = "", pointer.split("/")[1:]
    for typed, step in zip(places, steps, strict=True):
        try:
            inner = ask(questions.config(f"{place}/{typed}"))
        except ConfdClientError as error:
            if str(error) == WRONG_QUESTION:
                return f"nothing is at {pointer!r}: {_missing(place, step, value)}"
            inner = _UNKNOWN  # too long for an answer, so there is something
        place, value = f"{place}/{typed}", inner
    return f"nothing was at {pointer!r}, and now there is something: ask again"


def _missing(place: str, step: str, value: Any) -> str:
    shown = place or "the configuration"
    if isinstance(value, Mapping):
        names = [str(name) for name in value]
        return f"{shown} has no {step!r}; {did_you_mean(step, names) or _told(names)}"
    if isinstance(value, list):
        there = f"0 to {len(value) - 1}" if value else "none"
        return f"{shown} is a list, in which there is no {step!r}; there are {there}"
    return (
        f"{shown} has no {step!r}" if value is _UNKNOWN else f"{shown} is a single value, in which there is no {step!r}"
    )


def _told(names: list[str]) -> str:
    """@param names: all that there are."""
    more = f" and {len(names) - _TOLD} more" if len(names) > _TOLD else ""
    return f"there are {', '.join(names[:_TOLD])}{more}" if names else "it is empty"
