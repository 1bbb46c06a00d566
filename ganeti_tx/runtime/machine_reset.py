"""Resetting the machine of a node, as its reset button does: at once, with nothing written to disk and nobody asked."""

import os
import signal
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Protocol

from attrs import frozen

from ganeti_tx.runtime.root_processes import processes_of, send

SYSRQ = Path("/proc/sysrq-trigger")
#: What the kernel resets the machine for.
RESET = b"b"
PROCESS_IDS = Path("/proc/self/ns/pid")
#: The kernel's own name for the processes of the machine itself, those of containers left out (PROC_PID_INIT_INO).
OF_THE_MACHINE = "pid:[4026531836]"
#: A process that begins while others are ended is found in another round.
ROUNDS = 5


class MachineReset(Protocol):
    """How a node is reset."""

    def obstacle(self) -> str:
        """Why it cannot be; empty when it can."""

    def reset(self) -> None:
        """Do it. Nothing of what needs a disk that works may be needed for it."""


@frozen
class NoReset:
    """Of a daemon that was given no machine."""

    def obstacle(self) -> str:
        """Always the same."""
        return "this node daemon has no machine to reset"

    def reset(self) -> None:
        """Nothing happens."""


@frozen
class KernelReset:
    """By the kernel, which does not look at any disk. A container's node is not reset: it would be its host."""

    trigger: Path = SYSRQ
    process_ids: Path = PROCESS_IDS

    def obstacle(self) -> str:
        """As MachineReset says."""
        try:
            if os.readlink(self.process_ids) != OF_THE_MACHINE:
                return "it is a container, and its host would be reset"
        except OSError as error:
            return f"{self.process_ids}: {error.strerror}"
        return "" if os.access(self.trigger, os.W_OK) else f"{self.trigger} cannot be written to"

    def reset(self) -> None:
        """As MachineReset says."""
        descriptor = os.open(self.trigger, os.O_WRONLY)
        try:
            os.write(descriptor, RESET)
        finally:
            os.close(descriptor)


@frozen
class RootReset:
    """Of a node that has a part of a machine, by its root directory: all its processes are ended, this one last."""

    root: Path
    find: Callable[[Path], Iterable[int]] = processes_of
    kill: Callable[[int, signal.Signals], None] = send

    def obstacle(self) -> str:
        """As MachineReset says."""
        return ""

    def reset(self) -> None:
        """As MachineReset says."""
        for _ in range(ROUNDS):
            found = [process for process in self.find(self.root) if process != os.getpid()]
            for process in found:
                self.kill(process, signal.SIGKILL)
            if not found:
                break
        self.kill(os.getpid(), signal.SIGKILL)


def reset_of(root: Path) -> MachineReset:
    """That of the node whose files are below a root."""
    return KernelReset() if root.resolve() == Path("/") else RootReset(root)
