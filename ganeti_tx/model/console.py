"""How to reach the console of an instance: what its node tells of it, and what clients get of that."""

from collections.abc import Sequence
from typing import Annotated

import msgspec

from ganeti_tx.errors import ResultValidationError
from ganeti_tx.model.base import Wire
from ganeti_tx.model.enums import Hypervisor
from ganeti_tx.model.host_name import SHOWN
from ganeti_tx.model.hypervisor import VNC_BASE_PORT, ConsoleKind
from ganeti_tx.model.hypervisors import HYPERVISORS
from ganeti_tx.model.instance_spec import InstanceSpec
from ganeti_tx.model.ip_family import is_address
from ganeti_tx.model.node import Node
from ganeti_tx.model.printable import printable
from ganeti_tx.own_modules import runs_module

#: Words of a command, and characters of one of them or of a message.
MAX_WORDS, MAX_LENGTH = 16, 4096
#: As whom the command of a console is run.
USER = "root"

Word = Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_LENGTH)]


class InstanceConsole(Wire, frozen=True, kw_only=True):
    """What a client must open or run; which fields are set follows from `kind`."""

    instance: str
    kind: ConsoleKind
    message: str | None = None
    host: str | None = None
    port: int | None = None
    user: str | None = None
    command: Sequence[str] | str | None = None
    display: int | None = None


class ToldConsole(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a node tells of a console. Where a command is run, and as whom, is not for it to say.

    @ivar host: the address at which a display listens; None: that of the node.
    """

    kind: ConsoleKind
    message: str | None = None
    host: str | None = None
    command: Annotated[list[Word], msgspec.Meta(min_length=1, max_length=MAX_WORDS)] | None = None


def console_of(instance: InstanceSpec, node: Node, told: ToldConsole) -> InstanceConsole:
    """What clients get. @raise ResultValidationError: the node told what cannot be so."""
    kind, name = told.kind, instance.name
    if kind not in HYPERVISORS[Hypervisor(instance.hypervisor)].consoles:
        raise _odd(instance, node, f"of kind {kind}, which {instance.hypervisor} has not")
    if kind is ConsoleKind.SSH:
        command = _command(instance, node, told)
        return InstanceConsole(instance=name, kind=kind, host=node.name, user=USER, command=command)
    if kind is ConsoleKind.MESSAGE:
        return InstanceConsole(instance=name, kind=kind, message=printable(told.message or "", MAX_LENGTH))
    port, host = instance.network_port, _host(instance, node, told)
    if port is None:
        raise _odd(instance, node, f"of kind {kind}, for which the instance has no port")
    display = port - VNC_BASE_PORT if kind is ConsoleKind.VNC else None
    return InstanceConsole(instance=name, kind=kind, host=host, port=port, display=display)


def _command(instance: InstanceSpec, node: Node, told: ToldConsole) -> Sequence[str]:
    """The hypervisor's own program for consoles, in words that a line can show."""
    words, program = told.command or [""], HYPERVISORS[Hypervisor(instance.hypervisor)].console_program
    known = program is not None and (words[0] == program or runs_module(words, program))
    if not known or not all(word.isprintable() for word in words):
        raise _odd(instance, node, f"the command {repr(words)[:SHOWN]}, which does not run {program}")
    return words


def _host(instance: InstanceSpec, node: Node, told: ToldConsole) -> str:
    """The node, or where the parameter of a display says that it listens; an interface's address only the node knows."""
    parameter = HYPERVISORS[Hypervisor(instance.hypervisor)].displays[told.kind]
    bind = str(instance.hvparams.get(parameter) or "")
    is_interface = bind != "" and not bind.startswith("/") and not is_address(bind)
    host = node.name if told.host is None else told.host
    if host in (node.name, node.primary_ip, node.secondary_ip) or (is_address(host) and (is_interface or host == bind)):
        return host
    raise _odd(
        instance, node, f"at {host[:SHOWN]!r}, which is neither an address of the node nor {parameter}, {bind!r};"
        " the instance has to be restarted if that was changed while it ran",
    )  # fmt: skip


def _odd(instance: InstanceSpec, node: Node, what: str) -> ResultValidationError:
    return ResultValidationError(f"node {node.name} says that the console of instance {instance.name} is {what}")
