"""What kvm-ifup, kvm-ifdown and vif-ganeti do, which are run by administrators' scripts and by Xen (`etc/network`)."""

import os
import sys
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any

from attrs import frozen
from twisted.internet.defer import Deferred
from twisted.internet.task import react

from ganeti_tx.errors import ExitCode, HypervisorError
from ganeti_tx.node.hypervisor.nics.bridges import check_interface
from ganeti_tx.node.hypervisor.nics.node_ends import STOP, NodeEnds
from ganeti_tx.node.hypervisor.nics.script_environment import NodeEnd
from ganeti_tx.node.hypervisor.nics.scripts import NoScripts, UserScripts
from ganeti_tx.node.hypervisor.nics.xen_vifs import COMES, GOES, Vif, XenVifs
from ganeti_tx.runtime.files import RealFiles
from ganeti_tx.runtime.files_errors import reason
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.process import IProcessRunner
from ganeti_tx.runtime.reactor_process import ReactorProcessRunner
from ganeti_tx.runtime.reactors import IDaemonReactor
from ganeti_tx.runtime.threads import InlineThreads

XEN = "xen"


@frozen
class Asked:
    """What a program is asked: by words, and by its environment."""

    words: Sequence[str]
    environment: Mapping[str, str]
    runner: IProcessRunner

    def end(self) -> NodeEnd:
        """The interface that a script tells of; a name that it gives counts. @raise HypervisorError: it tells too little."""
        told = {**self.environment, **({"INTERFACE": self.words[0]} if self.words else {})}
        if missing := [name for name in ("INTERFACE", "MODE", "LINK") if name not in told]:
            raise HypervisorError(f"{', '.join(missing)} not set; this is run with the environment of kvm-vif-bridge")
        check_interface("network interface", told["INTERFACE"])
        return NodeEnd({"MAC": "", **told})


async def ifup(asked: Asked) -> None:
    """What is done where no script of the administrator is."""
    ends, end = NodeEnds(asked.runner, NoScripts()), asked.end()
    if not end.communication:
        await ends.check_link(end.link)
    await ends.connect(end)


async def ifdown(asked: Asked) -> None:
    """Take back what `ifup` does."""
    await NodeEnds(asked.runner, NoScripts()).disconnect(asked.end(), STOP)


async def xen_vif(asked: Asked) -> None:
    """What Xen asks for; other words than these are for other kinds of scripts."""
    paths, files = Paths.from_environment(asked.environment), RealFiles(InlineThreads())
    vifs = XenVifs(files, paths, asked.runner, NodeEnds(asked.runner, UserScripts(files, paths, XEN)))
    verb = asked.words[0] if asked.words else ""
    if verb not in COMES + GOES:
        raise HypervisorError(f"usage: vif-ganeti {'|'.join(COMES + GOES)} [type_if=vif|tap]; Xen itself runs it")
    vif = Vif.told(asked.words[1:], asked.environment)
    await (vifs.comes(vif) if verb in COMES else vifs.goes(vif))


PROGRAMS: Mapping[str, Callable[[Asked], Coroutine[Any, Any, None]]] = {
    "kvm-ifup": ifup,
    "kvm-ifdown": ifdown,
    "vif-ganeti": xen_vif,
}


async def perform(program: str, asked: Asked) -> int:
    """The exit status; one line says why a program fails."""
    try:
        await PROGRAMS[program](asked)
    except HypervisorError as error:
        print(f"{program}: {error}", file=sys.stderr)
        return ExitCode.FAILURE
    except OSError as error:
        print(f"{program}: {reason(error)}", file=sys.stderr)
        return ExitCode.FAILURE
    return ExitCode.SUCCESS


def main(reactor: IDaemonReactor, program: str, *words: str) -> "Deferred[None]":
    """One of `PROGRAMS`, named by its first word."""

    async def whole() -> None:
        status = await perform(program, Asked(words, os.environ, ReactorProcessRunner(reactor, reactor)))
        if status:
            raise SystemExit(status)

    return Deferred.fromCoroutine(whole())


if __name__ == "__main__":
    react(main, sys.argv[1:])
