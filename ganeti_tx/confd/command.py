"""`ganeti-confd-client`: asks the master candidates' configuration daemons. It imports no Twisted."""

import argparse
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ganeti_tx import __version__
from ganeti_tx.confd import command_output as output
from ganeti_tx.confd import questions
from ganeti_tx.confd.blocking import BlockingClient
from ganeti_tx.confd.codec import Key
from ganeti_tx.confd.messages import PORT, Status
from ganeti_tx.confd.peers import candidates, peer, read_key
from ganeti_tx.confd.places import why_nothing
from ganeti_tx.confd.poll import EXPIRY, WRONG_QUESTION, Answer, Peer
from ganeti_tx.confd.questions import Question
from ganeti_tx.errors import ConfdClientError, GanetiError, ResolverError
from ganeti_tx.model.ip_family import is_address
from ganeti_tx.runtime.files_errors import reason
from ganeti_tx.runtime.names import resolve_now
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.tool_parser import ToolParser

PROGRAM = "ganeti-confd-client"
MAX_TIMEOUT = 300.0


class Word(NamedTuple):
    """What can be asked: with which argument ("" for none), how it is put, and how the answer is shown."""

    about: str
    question: Callable[..., Question[Any]]
    show: Callable[[Any], list[str]]
    argument: str = ""
    #: How many arguments, as argparse writes it.
    times: str | None = None


WORDS: Mapping[str, Word] = {
    "ping": Word("the version of the configuration", questions.ping, output.one),
    "master": Word("the master's name, the cluster's address, the node's address", questions.master, output.master),
    "node-role": Word("what a node is", questions.node_role, output.role, "NODE"),
    "node-ips": Word("the addresses of all nodes", questions.node_ips, output.each),
    "candidates": Word("the addresses of the master candidates", questions.candidate_ips, output.each),
    "instance-ips": Word("the addresses of instances on a link", questions.instance_ips, output.each, "LINK", "?"),
    "ip": Word("the node's address by those of instances", questions.node_ips_of_instances, output.plain, "IP", "+"),
    "drbd": Word("the mirrors on a node", questions.node_drbd, output.minors, "NODE"),
    "instances": Word("the instances on a node", questions.node_instances, output.instances, "NODE"),
    "disks": Word("the disks of an instance", questions.instance_disks, output.disks, "INSTANCE"),
    "config": Word("any value of the configuration, such as /cluster/tags", questions.config, output.plain, "POINTER"),
    "collectors": Word("the monitoring daemon's collectors", questions.collectors, output.collectors),
}


def seconds(text: str) -> float:
    """A time-out. @raise ValueError: it is none."""
    value = float(text)
    if not 0 < value <= MAX_TIMEOUT:
        raise argparse.ArgumentTypeError(f"{text!r} is not above 0 and at most {MAX_TIMEOUT:.0f} seconds")
    return value


def port_number(text: str) -> int:
    """A port. @raise ArgumentTypeError: it is none."""
    if not (text.isdecimal() and 0 < int(text) < 65536):
        raise argparse.ArgumentTypeError(f"{text!r} is not a port: a number from 1 to 65535")
    return int(text)


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = ToolParser(prog=PROGRAM, description="Ask the configuration daemons of the master candidates.")
    add_common(made)
    words = made.add_subparsers(dest="word", metavar="QUESTION", required=True)
    for name, word in WORDS.items():
        added = words.add_parser(name, help=word.about, description=f"Show {word.about}.")
        if word.argument:
            added.add_argument("argument", metavar=word.argument, nargs=word.times)
        if name == "ip":
            added.add_argument("--link", help="of the addresses (default: the cluster's default link)")
    return made


def add_common(made: argparse.ArgumentParser) -> None:
    """Whom to ask, and how: the options of every program that asks."""
    made.add_argument("-V", "--version", action="version", version=f"%(prog)s (ganeti ganeti_tx) {__version__}")
    made.add_argument(
        "-a",
        "--addr",
        "--mc-list",
        metavar="HOST",
        action="append",
        help="ask this one (may be repeated; default: the master candidates that this node knows)",
    )
    made.add_argument("--port", "-p", type=port_number, default=PORT, help="the UDP port (default: %(default)s)")
    made.add_argument("--timeout", type=seconds, default=EXPIRY, metavar="SECONDS", help="(default: %(default)g)")
    made.add_argument("--hmac-file", type=Path, metavar="FILE", help="the key (default: the cluster's own)")
    made.add_argument("--hmac", metavar="KEY", help="the key itself, which others of this machine may then see")
    made.add_argument("-r", "--json", action="store_true", help="show the answer with what is known about it as JSON")
    made.add_argument("--each", action="store_true", help="ask each on its own, and put its name before its answer")


def peers_of(hosts: Sequence[str] | None, port: int, paths: Paths) -> list[Peer]:
    """Whom to ask. @raise GanetiError: nobody is known, or a host is not."""
    if not hosts:
        return candidates(paths, port)
    return list(dict.fromkeys(peer(address(paths, host), port) for host in hosts))


def address(paths: Paths, host: str) -> str:
    """A host's IP address: that of the cluster's family where it has several. @raise ConfdClientError: it has none."""
    try:
        return host if is_address(host) else resolve_now(paths, host)[1]
    except ResolverError as error:
        raise ConfdClientError(str(error)) from None


def show(options: argparse.Namespace, word: Word, answer: Answer[Any]) -> int:
    """Print an answer; the exit status."""
    for other in answer.conflicting:
        print(f"{called()}: warning: {other.host} gives another answer of the same serial number", file=sys.stderr)
    if options.json:
        facts = {
            "answer": answer.value,
            "serial": answer.serial,
            "peers": [each.host for each in answer.peers],
            "conflicting": [each.host for each in answer.conflicting],
        }
        print(output.json_text(facts))
    elif options.word == "ip":
        print(*output.node_ips(options.argument, answer.value), sep="\n")
    else:
        for line in word.show(answer.value):
            print(line)
    return int(options.word == "ip" and any(each.status != Status.OK for each in answer.value))


def key_of(options: argparse.Namespace, paths: Paths) -> Key:
    """The key to sign with. @raise ConfigurationError, ConfdClientError: there is none."""
    if options.hmac is not None:
        return Key(options.hmac.encode())
    if options.hmac_file is not None and not options.hmac_file.exists():
        raise ConfdClientError(f"no key to ask with: there is no file {options.hmac_file}")
    return read_key(options.hmac_file or paths.hmac_key)


def clients_of(options: argparse.Namespace, paths: Paths) -> list[tuple[str, BlockingClient]]:
    """One for all who are asked; with --each, one for each of them, by the name to show."""
    key, peers = key_of(options, paths), peers_of(options.addr, options.port, paths)
    if not options.each:
        return [("", BlockingClient(key, peers, options.timeout))]
    return [(each.host, BlockingClient(key, [each], options.timeout)) for each in peers]


def run(options: argparse.Namespace) -> int:
    """Ask and show. @raise GanetiError: there is no answer."""
    word = WORDS[options.word]
    arguments = [options.argument] if word.argument else []
    if options.word == "ip":
        arguments.append(options.link)
    status = 0
    for host, client in clients_of(options, Paths.from_environment(os.environ)):
        if host:
            print(f"{host}:")
        try:
            status |= show(options, word, client.ask(word.question(*arguments)))
        except ConfdClientError as error:
            why = explained(options, error, client)
            status |= failed(f"{host}: {why}" if host else why)
    return status


def explained(options: argparse.Namespace, error: ConfdClientError, client: BlockingClient) -> str:
    """An error in words; of a place of the configuration where it leads nowhere."""
    if options.word != "config" or str(error) != WRONG_QUESTION:
        return str(error)
    return why_nothing(options.argument, lambda question: client.ask(question).value)


def main() -> int:
    """The exit status: 1 when there is no answer or one is unknown, 2 for a wrong command line."""
    return finished(parser().parse_args())


def finished(options: argparse.Namespace) -> int:
    """Run to the end; the exit status. Every problem is a line on standard error."""
    try:
        status = run(options)
        print(end="", flush=True)
        return status
    except UnicodeEncodeError as error:
        return failed(f"{error.object!r} cannot be written in {error.encoding}")
    except (GanetiError, ValueError) as error:
        return failed(str(error))
    except BrokenPipeError:  # whoever read the output has left
        drop_output()
        return 1
    except OSError as error:
        drop_output()
        return failed(reason(error))
    except KeyboardInterrupt:
        return 130


def called() -> str:
    """By which of its names the program was called; its own, if it was called by none."""
    name = Path(sys.argv[0]).name
    return PROGRAM if name.startswith("-") else name


def failed(text: str) -> int:
    """Say why; the exit status."""
    print(f"{called()}: {text}", file=sys.stderr)
    return 1


def drop_output() -> None:
    """What could not be written is not tried again at the interpreter's end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
