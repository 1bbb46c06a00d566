"""Xen's domains as `xl` tells of them."""

from collections.abc import Sequence

from ganeti_tx.errors import HypervisorError
from ganeti_tx.node.hypervisor.xen.listed import Domain, parse_list, parse_uptime
from ganeti_tx.runtime.process import NOT_FOUND, IProcessRunner

LIST = ("xl", "list")
UPTIME = ("xl", "uptime")
#: Seconds that one command may take.
TIMEOUT = 15.0


async def domains(runner: IProcessRunner) -> list[Domain]:
    """All domains. @raise HypervisorError: xl does not tell."""
    return parse_list(await _said(runner, LIST))


async def uptimes(runner: IProcessRunner) -> dict[str, str]:
    """How long each domain is up, in xl's words. @raise HypervisorError: xl does not tell."""
    return parse_uptime(await _said(runner, UPTIME))


async def _said(runner: IProcessRunner, argv: Sequence[str]) -> str:
    result = await runner.run(argv, timeout=TIMEOUT)
    if result.status == NOT_FOUND:
        raise HypervisorError("xl is not installed, though a Xen hypervisor is enabled in this cluster")
    if not result.succeeded or result.truncated:
        raise HypervisorError(f"{' '.join(argv)} {result.describe()}")
    return result.stdout.decode("utf-8", "replace")
