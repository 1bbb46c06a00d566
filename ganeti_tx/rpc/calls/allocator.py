"""Calls about instance allocators."""

from typing import Any, ClassVar

from ganeti_tx.rpc.calls.base import MiB, NodeCall


class IallocatorRunner(NodeCall[str], frozen=True, kw_only=True):
    """Run an allocator on a document, with options of its own; what it prints. A value of None is an option without one."""

    name: ClassVar[str] = "iallocator_runner"
    in_lines: ClassVar[bool] = False
    max_request: ClassVar[int] = 64 * MiB
    allocator: str
    idata: str
    default_iallocator_params: dict[str, Any]

    def __repr__(self) -> str:
        return f"<IallocatorRunner {self.allocator}>"
