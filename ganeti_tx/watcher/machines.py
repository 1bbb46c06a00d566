"""What is done with the machines of this node by the node alone, as a program of its own, since their drivers need a reactor.

`stop` cuts all of them off, and takes down the mirrors of their disks, so that other nodes' sides do without this one.
`clear` removes what machines left that have ended by themselves, of instances that the cluster
does not know any more; nobody else would ever do that. `end` cuts off what the node keeps something of, and removes that: the
machines of a node that has only a root directory of its own, and of no other. `leave` gives back what storages keep of the node
when no disk is in use any more, such as volumes that are mounted. Each line that is printed is one to log.
"""

import os
import sys
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence

from attrs import define, field
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import react

from ganeti_tx.errors import ExitCode, GanetiError
from ganeti_tx.node.hypervisor.interfaces import IHypervisor, IKeepsState
from ganeti_tx.node.hypervisor.registry import load_hypervisors
from ganeti_tx.node.storage.abilities import ILeaving, IMirrorModule
from ganeti_tx.node.storage.holders import DiskHolders
from ganeti_tx.node.storage.interfaces import IStorage
from ganeti_tx.node.storage.registry import load_storage
from ganeti_tx.runtime.files import IFiles, RealFiles
from ganeti_tx.runtime.machine_work import END, LEAVE, STOP
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.process import IProcessRunner
from ganeti_tx.runtime.reactor_process import ReactorProcessRunner
from ganeti_tx.runtime.reactors import IDaemonReactor
from ganeti_tx.runtime.script_log import OpenLog, open_log
from ganeti_tx.runtime.threads import IThreads, reactor_threads
from ganeti_tx.watcher.node import read_text

#: Seconds of time that nobody gets to power off.
AT_ONCE = 0.0

Say = Callable[[str], None]


@define
class MachineParts:
    """What drivers are made from."""

    paths: Paths
    files: IFiles
    threads: IThreads
    runner: IProcessRunner
    clock: IReactorTime
    reactor: IDaemonReactor
    now: Callable[[], float]
    open_log: OpenLog = open_log
    holders: DiskHolders = field(factory=DiskHolders)


def real_parts(reactor: IDaemonReactor) -> MachineParts:
    """Of this machine."""
    threads = reactor_threads(reactor)
    paths = Paths.from_environment(os.environ)
    runner = ReactorProcessRunner(reactor, reactor)
    return MachineParts(paths, RealFiles(threads), threads, runner, reactor, reactor, time.time)


async def stop_all(hypervisors: Iterable[IHypervisor], say: Say) -> bool:
    """Cut every machine off; whether all are. One that does not end is no reason to leave the others."""
    return await _with_each(hypervisors, _stop_its, say)


async def _stop_its(hypervisor: IHypervisor, say: Say) -> bool:
    done = True
    for machine in await hypervisor.list_instances():
        done &= await _end(hypervisor, machine.name, f"instance {machine.name} was cut off", say)
    return done


async def _with_each(
    hypervisors: Iterable[IHypervisor], work: Callable[[IHypervisor, Say], Awaitable[bool]], say: Say
) -> bool:
    """Whether it went well with all; one that fails is no reason to leave the machines of the others."""
    done = True
    for hypervisor in hypervisors:
        try:
            done &= await work(hypervisor, say)
        except Exception as error:
            say(f"hypervisor {hypervisor.name}: {_said(error)}")
            done = False
    return done


def _said(error: Exception) -> str:
    return str(error) if isinstance(error, (GanetiError, OSError)) else f"{type(error).__name__}: {error}"


async def take_mirrors_down(storages: Iterable[IStorage], say: Say) -> bool:
    """Take down every mirror of this node; whether all are."""
    return await _faultless((IMirrorModule(each).all_down for each in storages if IMirrorModule.providedBy(each)), say)


async def give_back(storages: Iterable[object], say: Say) -> bool:
    """Give back what storages keep of this node; whether nothing stays."""
    return await _faultless((ILeaving(each).leave for each in storages if ILeaving.providedBy(each)), say)


async def _faultless(works: Iterable[Callable[[], Awaitable[Sequence[str]]]], say: Say) -> bool:
    """Do all, and say the faults that each gives; whether there is none."""
    done = True
    for each in works:
        try:
            faults = await each()
        except Exception as error:
            faults = [_said(error)]
        for fault in faults:
            say(fault)
        done &= not faults
    return done


async def stop_everything(hypervisors: Iterable[IHypervisor], storages: Iterable[IStorage], say: Say) -> bool:
    """Machines first, which have the mirrors open; whether all that is done."""
    stopped = await stop_all(hypervisors, say)
    return await take_mirrors_down(storages, say) and stopped


async def clear(hypervisors: Iterable[IHypervisor], known: frozenset[str], say: Say) -> bool:
    """Remove what is left of machines that do not run, save those of instances that are known; whether that went well."""

    async def clear_its(hypervisor: IHypervisor, say: Say) -> bool:
        done = True
        for name in sorted(set(IKeepsState(hypervisor).kept_names()) - known):
            done &= await _clear_one(hypervisor, name, say)
        return done

    return await _with_each(_keeping(hypervisors), clear_its, say)


async def end_kept(hypervisors: Iterable[IHypervisor], say: Say) -> bool:
    """Cut off every machine of which something is kept here, and remove that; whether all is done."""

    async def end_its(hypervisor: IHypervisor, say: Say) -> bool:
        done = True
        for name in sorted(IKeepsState(hypervisor).kept_names()):
            done &= await _end(hypervisor, name, f"instance {name} was cut off", say)
        return done

    return await _with_each(_keeping(hypervisors), end_its, say)


def _keeping(hypervisors: Iterable[IHypervisor]) -> Iterable[IHypervisor]:
    return (each for each in hypervisors if IKeepsState.providedBy(each))


async def _clear_one(hypervisor: IHypervisor, name: str, say: Say) -> bool:
    try:
        runs = await hypervisor.info(name) is not None
    except Exception as error:
        say(_said(error))
        return False
    return runs or await _end(hypervisor, name, f"removed what instance {name} had left, which is gone", say)


async def _end(hypervisor: IHypervisor, name: str, told: str, say: Say) -> bool:
    try:
        await hypervisor.stop(name, AT_ONCE, True)
    except Exception as error:
        say(_said(error))
        return False
    say(told)
    return True


def work(what: str, parts: MachineParts) -> "Deferred[bool]":
    """One of the four."""
    if what == LEAVE:
        return Deferred.fromCoroutine(give_back(load_storage(parts).storages.values(), print))
    hypervisors: Mapping[str, IHypervisor] = load_hypervisors(parts)
    if what == STOP:
        storages = load_storage(parts).storages.values()
        return Deferred.fromCoroutine(stop_everything(hypervisors.values(), storages, print))
    if what == END:
        return Deferred.fromCoroutine(end_kept(hypervisors.values(), print))
    known = frozenset(read_text(parts.paths.ssconf_file("instance_list")).split())
    return Deferred.fromCoroutine(clear(hypervisors.values(), known, print))


def main(reactor: IDaemonReactor, what: str) -> "Deferred[None]":
    """As `react` takes it; it ends with failure when something could not be done."""

    def end(done: bool) -> None:
        if not done:
            raise SystemExit(ExitCode.FAILURE)

    return work(what, real_parts(reactor)).addCallback(end)


if __name__ == "__main__":
    react(main, sys.argv[1:])
