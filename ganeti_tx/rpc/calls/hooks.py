"""Calls about hooks."""

from typing import ClassVar

from ganeti_tx.model.hooks import HookPhase, HookResult
from ganeti_tx.rpc.calls.base import NodeCall


class HooksRunner(NodeCall[list[HookResult]], frozen=True, kw_only=True):
    """Run the scripts of a hook in one phase. `env`: what they are told; the node adds its search path and data directory."""

    name: ClassVar[str] = "hooks_runner"
    in_lines: ClassVar[bool] = False
    hpath: str
    phase: HookPhase
    env: dict[str, str]
