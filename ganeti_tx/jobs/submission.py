"""Jobs that submit jobs, over LUXI like everybody else."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from ganeti_tx.luxi.on_twisted import client
from ganeti_tx.model.opcodes import Disclosure, OpCode, encode
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.reactors import ISocketReactor


def submitter(
    reactor: ISocketReactor, paths: Paths
) -> Callable[[Sequence[Sequence[OpCode]]], Awaitable[list[tuple[bool, Any]]]]:
    """Submits jobs; for each whether it was taken, and its id or why not."""

    async def submit(jobs: Sequence[Sequence[OpCode]]) -> list[tuple[bool, Any]]:
        luxi = client(reactor, str(paths.query_socket))
        try:
            answers = await luxi.submit_many_jobs([[encode(op, Disclosure.WIRE) for op in ops] for ops in jobs])
        finally:
            luxi.close()
        return [(bool(taken), what) for taken, what in answers]

    return submit
