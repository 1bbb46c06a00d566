"""How long the texts in an opcode may be, by the kind of parameter: a job's file and log, and whoever reads them, have them all."""

import re
from collections.abc import Mapping
from typing import Any

from ganeti_tx.errors import ECode, OpPrereqError

#: Characters of the name of something, and of what people type otherwise: as many as a path has.
LONGEST_NAME, LONGEST_TEXT = 255, 4096
#: Of what becomes an argument or a variable of a program (Linux: MAX_ARG_STRLEN), and of a text to read. The target node of
#: a remote export has certificates in it.
LONGEST_VALUE, LONGEST_PROSE = 128 * 1024 - 1, 128 * 1024
#: Jobs that one may wait for: they are looked at as often as one of them ends.
MOST_DEPENDENCIES = 4096
#: The parameters that name something, or several.
NAMES = re.compile(r"([a-z_]*)(names?|uuids?|nodes?|groups?|instances?|networks?|iallocator|os_type)")
OS_PARAMETERS = frozenset({"osparams", "osparams_private", "osparams_secret", "osparams_private_cluster"})
#: Those of other kinds, at whatever depth.
OTHERS: Mapping[str, int] = {
    **dict.fromkeys((*OS_PARAMETERS, "hvparams", "os_hvp"), LONGEST_VALUE),
    **dict.fromkeys(("comment", "reason", "source_x509_ca", "destination_x509_ca", "target_node"), LONGEST_PROSE),
}
#: What a parameter of an OS may be called: it becomes a variable of its scripts' environment.
OS_PARAMETER = re.compile(r"[^\s=]+")


def check_bounds(op_id: str, raw: Mapping[str, Any]) -> None:
    """@raise OpPrereqError: a text is too long, it waits for too many jobs, or an OS parameter has no name; the value is not
    told, it may be secret.
    """
    depends = raw.get("depends")
    if isinstance(depends, list | tuple) and len(depends) > MOST_DEPENDENCIES:
        raise OpPrereqError(f"{op_id}.depends: {len(depends)} jobs; allowed are {MOST_DEPENDENCIES}", ECode.INVAL)
    for name, value in raw.items():
        if isinstance(value, str | list | tuple | dict):
            _check(f"{op_id}.{name:.100}", value, _limit(name, isinstance(value, str)), name in OS_PARAMETERS)


def _limit(name: str, is_text: bool) -> int:
    """Of a parameter; one that is a name where it is text may have other things in it where it is a list."""
    if name in OTHERS and not (is_text and NAMES.fullmatch(name)):
        return OTHERS[name]
    return LONGEST_NAME if NAMES.fullmatch(name) else LONGEST_TEXT


def _check(where: str, value: object, limit: int, of_os: bool) -> None:
    if isinstance(value, str):
        if len(value) > limit:
            raise OpPrereqError(f"{where}: {len(value)} characters; allowed are {limit}", ECode.INVAL)
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            if isinstance(item, str | list | tuple | dict):
                _check(f"{where}[{index}]", item, limit, of_os)
    elif isinstance(value, dict):
        for key, item in value.items():
            _check_key(where, key, of_os)
            if isinstance(item, str | list | tuple | dict):
                inner = OTHERS.get(key, max(limit, LONGEST_TEXT))
                _check(f"{where}.{key}", item, inner, of_os or key in OS_PARAMETERS)


def _check_key(where: str, key: object, of_os: bool) -> None:
    text = str(key)
    if len(text) > LONGEST_NAME:
        raise OpPrereqError(
            f"{where}: the name {text[:20]!r}... has {len(text)} characters; allowed are {LONGEST_NAME}", ECode.INVAL
        )
    if of_os and not (OS_PARAMETER.fullmatch(text) and text.isprintable()):
        raise OpPrereqError(
            f"{where}: not a name of an OS parameter: {text!r}; spaces, = and what cannot be printed are not allowed",
            ECode.INVAL,
        )
