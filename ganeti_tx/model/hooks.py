"""Hooks: scripts of the administrator's, run on nodes before and after what is done to an object (Ganeti 3.0 hook table)."""

from collections.abc import Mapping
from enum import IntEnum, StrEnum
from typing import Annotated

import msgspec

from ganeti_tx.model.versions import HOOKS_VERSION

#: The hook that runs on the master after every opcode that has changed the configuration.
CONFIG_UPDATE = "config-update"
#: What every script finds its programs by.
SEARCH_PATH = "/sbin:/bin:/usr/sbin:/usr/bin"


class HookPhase(StrEnum):
    """Before the work, when a script that fails stops it; or after it."""

    PRE = "pre"
    POST = "post"


class HookObject(StrEnum):
    """What kind of object the work is about."""

    CLUSTER = "CLUSTER"
    NODE = "NODE"
    GROUP = "GROUP"
    NETWORK = "NETWORK"
    INSTANCE = "INSTANCE"


class HookStatus(IntEnum):
    """How it went with one script; one that is no program is skipped."""

    SKIP = 0
    FAIL = 1
    SUCCESS = 2


class HookResult(msgspec.Struct, frozen=True):
    """One script, named with its directory, such as instance-start-pre.d/10-check, and what it said."""

    script: Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9_./-]{1,512}\Z")]
    status: HookStatus
    output: str = ""


def directory(hook: str, phase: HookPhase) -> str:
    """Where a hook's scripts are, below the directory of all hooks."""
    return f"{hook}-{phase}.d"


def environment(
    hook: str,
    phase: HookPhase,
    opcode: str,
    about: HookObject | None,
    *,
    cluster: str,
    master: str,
    before: Mapping[str, object],
    after: Mapping[str, object] | None = None,
) -> dict[str, str]:
    """All that scripts are told but what their node adds. The values are given without prefix; those from before the work keep
    their names in both phases, those from after it get GANETI_POST_.
    """
    told: dict[str, object] = {f"GANETI_{name}": value for name, value in before.items()}
    told |= {f"GANETI_POST_{name}": value for name, value in (after or {}).items()}
    told |= {
        "GANETI_HOOKS_VERSION": HOOKS_VERSION,
        "GANETI_HOOKS_PATH": hook,
        "GANETI_HOOKS_PHASE": phase,
        "GANETI_OP_CODE": opcode,
        "GANETI_CLUSTER": cluster,
        "GANETI_MASTER": master,
    }
    if about is not None:
        told["GANETI_OBJECT_TYPE"] = about
    return {name: str(value) for name, value in told.items()}
