"""`ganeti-rapi-access`: users and API tokens of the Remote API, from the command line."""

import argparse
import getpass
import math
import os
import re
import sys
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TextIO

import bcrypt
import msgspec
from attrs import frozen

from ganeti_tx.errors import ECode, ExitCode, GanetiError, OpPrereqError
from ganeti_tx.luxi.client import Client
from ganeti_tx.luxi.daemon import Daemon
from ganeti_tx.mastership.this_node import check_ssconf_master
from ganeti_tx.model.expiry import expiry_text, is_past
from ganeti_tx.model.group_scopes import kept_by_scope
from ganeti_tx.model.line_file import entries
from ganeti_tx.rapi.access.command_words import column_of, parser, read_end
from ganeti_tx.rapi.access.edited_file import EditedFile, one_at_a_time
from ganeti_tx.rapi.access.ldap_connection import DirectoryFault
from ganeti_tx.rapi.access.ldap_directory import Directory
from ganeti_tx.rapi.access.ldap_faults import ldap_faults
from ganeti_tx.rapi.access.ldap_settings import parse_ldap_settings
from ganeti_tx.rapi.access.passwords import MAX_BCRYPT_BYTES, read_password
from ganeti_tx.rapi.access.rights import Rights
from ganeti_tx.rapi.access.roles import Roles, parse_roles
from ganeti_tx.rapi.access.tokens import (
    caller_of,
    hash_of,
    new_secret,
    parse_token,
    parse_tokens,
    token_name,
)
from ganeti_tx.rapi.access.users import parse_users
from ganeti_tx.rapi.access.withdrawal import withdraw_jobs
from ganeti_tx.rapi.resources.table import OPERATIONS
from ganeti_tx.runtime.entropy import IEntropy, SystemEntropy
from ganeti_tx.runtime.files import IFiles, RealFiles
from ganeti_tx.runtime.names import own_name
from ganeti_tx.runtime.ownership import Owners, owners_at
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.rapi_files import read_rapi_files
from ganeti_tx.runtime.threads import InlineThreads
from ganeti_tx.wconfd.protocol.own_calls import SPREAD_RAPI_FILES

#: Each step takes twice as long; 12 is some quarter of a second.
COST = 12
#: Seconds that candidates have to take a change.
SPREAD_LIMIT = 5.0
#: Seconds for each answer about jobs that are to be cancelled.
WITHDRAW_LIMIT = 30.0
MASTER_DAEMON = Daemon("the master daemon (ganeti-master)", "ganeti-master")
RESOURCES = frozenset(operation.resource for operation in OPERATIONS)
_USER = re.compile(r"[^\s:#\x00-\x1f\x7f][^\s:\x00-\x1f\x7f]{0,99}")


@frozen(kw_only=True)
class Terminal:
    """Where the command is run; tests bring their own."""

    paths: Paths
    files: IFiles
    owners: Owners
    entropy: IEntropy
    now: Callable[[], float]
    stdin: TextIO
    out: TextIO
    err: TextIO
    #: Asks for a password without showing it.
    ask: Callable[[str], str]
    cost: int = COST
    own_name: str = ""
    #: Has the master bring what changed to the other nodes; the candidates that lack it after some seconds, and why.
    spread: Callable[[], Sequence[tuple[str, str]]] = lambda: ()
    #: Cancels what a caller has asked for until some time, in nanoseconds since the epoch; a sentence about each job.
    withdraw: Callable[[str, int], Sequence[str]] = lambda _caller, _until: ()

    @property
    def users(self) -> EditedFile:
        """The users file."""
        return EditedFile(self.files, self.paths.rapi_users_file, parse_users, self.owners)

    @property
    def tokens(self) -> EditedFile:
        """The tokens file."""
        return EditedFile(self.files, self.paths.rapi_tokens_file, parse_tokens, self.owners)

    def column(self, words: argparse.Namespace) -> str:
        """The rights that were typed. @raise ValueError: one is wrong or unknown"""
        return column_of(words, RESOURCES, self.roles())

    def roles(self) -> Roles:
        """The administrator's own."""
        return parse_roles(EditedFile(self.files, self.paths.rapi_roles_file, parse_roles, self.owners).read())

    def content(self, path: str, limit: int) -> bytes:
        """Of another file that the settings name."""
        return self.files.read(Path(path), limit)

    def tell(self, text: str) -> None:
        """A line that is not the result."""
        self.err.write(f"{text}\n")


@frozen
class Lessened:
    """Somebody whose rights are taken away."""

    #: As jobs have it.
    caller: str
    #: He had none any more: it is asked once more, since what he asked for may wait yet.
    gone: OpPrereqError | None = None


def token_add(terminal: Terminal, words: argparse.Namespace) -> None:
    """Make one, and show its secret this once."""
    name, end, column = token_name(words.name), read_end(words.expires, terminal.now()), terminal.column(words)
    if name in names_in(terminal.tokens):
        raise OpPrereqError(f"token {name!r} is there already; revoke it first", ECode.EXISTS)
    if not column:
        terminal.tell(f"token {name!r} gets no rights: it may do what everybody may; see --role and --allow")
    secret = new_secret(terminal.entropy.random_bytes)
    terminal.tokens.put(name, f"{name} {hash_of(secret)} {end} {column}".rstrip())
    terminal.tell(f"token {name!r} ends: {end}. It is shown only now:")
    terminal.out.write(f"{secret}\n")


def token_list(terminal: Terminal, words: argparse.Namespace) -> None:
    """Names, ends and rights."""
    for _number, line in entries(terminal.tokens.read()):
        token = parse_token(line)
        end = f"{expiry_text(token.expires)}{' (past)' if is_past(token.expires, terminal.now()) else ''}"
        terminal.out.write(f"{token.name} {end} {' '.join(line.split(None, 3)[3:])}".rstrip() + "\n")


def token_revoke(terminal: Terminal, words: argparse.Namespace) -> Lessened:
    """Take one away."""
    return without(terminal.tokens, words.name, "token", caller_of(words.name))


def user_add(terminal: Terminal, words: argparse.Namespace) -> None:
    """Make one."""
    if not _USER.fullmatch(words.name):
        raise ValueError(f"{words.name!r} is no user name: up to 100 letters, without spaces and colons, no # first")
    column = terminal.column(words)
    if words.name in names_in(terminal.users):
        raise OpPrereqError(f"user {words.name!r} is there already; see 'user modify'", ECode.EXISTS)
    terminal.users.put(words.name, f"{words.name} {hashed_password(terminal)} {column}".rstrip())


def user_password(terminal: Terminal, words: argparse.Namespace) -> None:
    """Give one another password."""
    _name, _password, *column = known(terminal.users, words.name, "user").split(None, 2)
    terminal.users.put(words.name, " ".join([words.name, hashed_password(terminal), *column]))


def user_modify(terminal: Terminal, words: argparse.Namespace) -> Lessened | None:
    """Give one other rights. Who has the same as before may have less than when he asked for jobs that could not be cancelled."""
    _name, password, *_column = known(terminal.users, words.name, "user").split(None, 2)
    former = rights_of(terminal, words.name)
    terminal.users.put(words.name, f"{words.name} {password} {terminal.column(words)}".rstrip())
    return None if rights_of(terminal, words.name).exceed(former, OPERATIONS) else Lessened(words.name)


def user_remove(terminal: Terminal, words: argparse.Namespace) -> Lessened:
    """Take one away."""
    return without(terminal.users, words.name, "user", words.name)


def user_list(terminal: Terminal, words: argparse.Namespace) -> None:
    """Names, how their passwords are kept, and rights."""
    for _number, line in entries(terminal.users.read()):
        name, password, *column = line.split(None, 2)
        terminal.out.write(" ".join([name, read_password(password).scheme.value, *column]) + "\n")


def scope_list(terminal: Terminal, words: argparse.Namespace) -> None:
    """Who has which scope of his own, in any of the files; tokens that have ended have none."""
    for scope, kept in kept_by_scope(read_rapi_files(terminal.files, terminal.paths), terminal.now()).items():
        for each in kept:
            terminal.out.write(f"{scope} {each.kind} {each.name}\n")


def ldap_check(terminal: Terminal, words: argparse.Namespace) -> None:
    """Say what is wrong with the settings of the directory, or what somebody may who logs in there."""
    path = terminal.paths.rapi_ldap_file
    if not terminal.files.exists(path):
        raise OpPrereqError(f"there is no file {path}", ECode.NOENT)
    settings = parse_ldap_settings(EditedFile(terminal.files, path, parse_ldap_settings, terminal.owners).read())
    faults = list(ldap_faults(settings, terminal.content, RESOURCES, terminal.roles()))
    if faults:
        raise OpPrereqError(f"{path}: {'; '.join(faults)}", ECode.INVAL)
    if words.name is None:
        terminal.tell(f"{path} has no faults; with a NAME a login is tried")
        return
    password = typed_password(terminal, "Password: ")
    if not password:
        raise ValueError("no password was given; it is asked for at a terminal, or read from standard input")
    directory = Directory(settings, terminal.content)
    try:
        rights = directory.login(words.name, password)
    except DirectoryFault as fault:
        raise OpPrereqError(str(fault), ECode.ENVIRON) from None
    finally:
        directory.close()
    if rights is None:
        raise OpPrereqError(f"{words.name!r} is refused: wrong password, or in no group with rights", ECode.INVAL)
    terminal.out.write(f"{rights}\n")


#: What each does; it gives the caller whose waiting jobs are to be cancelled, if any.
COMMANDS: Mapping[tuple[str, str], Callable[[Terminal, argparse.Namespace], Lessened | None]] = {
    ("token", "add"): token_add,
    ("token", "list"): token_list,
    ("token", "revoke"): token_revoke,
    ("user", "add"): user_add,
    ("user", "password"): user_password,
    ("user", "modify"): user_modify,
    ("user", "remove"): user_remove,
    ("user", "list"): user_list,
    ("scope", "list"): scope_list,
    ("ldap", "check"): ldap_check,
}


#: Verbs that change nothing, for which any node will do: elsewhere than on the master changes would be lost again.
LOOKING = frozenset({"list", "check"})


def names_in(file: EditedFile) -> Collection[str]:
    """Every name that has an entry."""
    return {line.split()[0] for _number, line in entries(file.read())}


def known(file: EditedFile, name: str, what: str) -> str:
    """The entry of a name, which is the last if there are several. @raise OpPrereqError: there is none"""
    found = [line for _number, line in entries(file.read()) if line.split()[0] == name]
    if not found:
        raise OpPrereqError(f"there is no {what} {name!r} in {file.path}", ECode.NOENT)
    return found[-1]


def without(file: EditedFile, name: str, what: str, caller: str) -> Lessened:
    """Let a name have no entry. It may have none already: what was begun before may have to be brought to its end."""
    try:
        known(file, name, what)
    except OpPrereqError as error:
        return Lessened(caller, error)
    file.put(name, None)
    return Lessened(caller)


def rights_of(terminal: Terminal, name: str) -> Rights:
    """What a user may do by the files, roles included."""
    return parse_users(terminal.users.read())[name].rights.with_roles(terminal.roles())


def hashed_password(terminal: Terminal) -> str:
    """A new password as the users file keeps it: asked for twice, or else the first line of standard input.

    @raise ValueError: it cannot be one
    """
    password = typed_password(terminal, "New password: ")
    if terminal.stdin.isatty() and terminal.ask("The same again: ") != password:
        raise ValueError("the two passwords differ; nothing is changed")
    if not password or "\0" in password or len(password.encode()) > MAX_BCRYPT_BYTES:
        raise ValueError(f"a password has 1 to {MAX_BCRYPT_BYTES} bytes; nothing is changed")
    return "{BCRYPT}" + bcrypt.hashpw(password.encode(), bcrypt.gensalt(terminal.cost)).decode()


def typed_password(terminal: Terminal, prompt: str) -> str:
    """Asked for at a terminal, else the first line of standard input."""
    return terminal.ask(prompt) if terminal.stdin.isatty() else terminal.stdin.readline().rstrip("\r\n")


def run(terminal: Terminal, argv: Sequence[str]) -> int:
    """Do what the words say; the exit status. Every problem is a line on standard error."""
    words = parser().parse_args(argv)
    state = "nothing is changed"
    try:
        if words.verb not in LOOKING:
            check_ssconf_master(terminal.files, terminal.paths, terminal.own_name)
        terminal.files.mkdir(terminal.paths.rapi_dir)
        with one_at_a_time(terminal.paths.rapi_dir):
            lessened = COMMANDS[words.noun, words.verb](terminal, words)
            until = nanoseconds(terminal.now())  # nobody has given the name to another yet
        if lessened is not None and lessened.gone is not None:
            state = left_waiting(lessened.caller)
        elif words.verb not in LOOKING:
            state = changed(lessened)
            spread(terminal)
        if lessened is not None:
            return withdraw(terminal, lessened, until)
    except (GanetiError, ValueError) as error:
        terminal.tell(f"ganeti-rapi-access: {error}")
        return error.exit_code if isinstance(error, GanetiError) else ExitCode.FAILURE
    except OSError as error:
        terminal.tell(f"ganeti-rapi-access: {error.strerror or error}: {error.filename or terminal.paths.rapi_dir}")
        return ExitCode.FAILURE
    except (KeyboardInterrupt, EOFError):
        terminal.tell(f"ganeti-rapi-access: interrupted; {state}")
        return ExitCode.FAILURE
    return ExitCode.SUCCESS


def changed(lessened: Lessened | None) -> str:
    """What is so from the change of the file until the master has done the rest."""
    jobs = "" if lessened is None else f", and {left_waiting(lessened.caller)}"
    return f"the change is made; other nodes may not have it yet, ganeti-master brings it to them{jobs}"


def left_waiting(caller: str) -> str:
    """What is so of whoever's jobs were not cancelled."""
    return f"jobs that {caller} asked for before may wait, and be done yet, until the same command is given again"


def spread(terminal: Terminal) -> None:
    """Say which master candidates do not have the change yet; it is made, whatever they have."""
    try:
        for node, why in terminal.spread():
            terminal.tell(f"master candidate {node} does not have this change yet, it gets it when it answers: {why}")
    except GanetiError as error:
        terminal.tell(f"no other node has this change yet; ganeti-master brings it to them when it runs: {error}")


def nanoseconds(now: float) -> int:
    """A time as requests have it, not before the moment that it is read."""
    return math.ceil(now * 1e6) * 1000


def withdraw(terminal: Terminal, lessened: Lessened, until: int) -> int:
    """Say what becomes of jobs that were asked for until then; the rights of before are taken away, whatever becomes of them.

    Gives the exit status.
    """
    caller, gone = lessened.caller, lessened.gone
    before = "" if gone is None else f"ganeti-rapi-access: {gone}; "
    try:
        told = terminal.withdraw(caller, until)
    except GanetiError as error:
        terminal.tell(f"{before}{left_waiting(caller)}: {error}")
        return ExitCode.FAILURE
    if gone is not None:
        jobs = "jobs are left" if told else "no job waits or runs"
        terminal.tell(f"{before}{jobs} that {caller} asked for before")
    for sentence in told:
        terminal.tell(f"{caller} asked for a job: {sentence}")
    return ExitCode.SUCCESS if gone is None or told else gone.exit_code


def ask_luxid(paths: Paths, caller: str, until: int) -> Sequence[str]:
    """@raise GanetiError: it does not run, or cannot do it."""
    with Client(str(paths.query_socket), answer_timeout=WITHDRAW_LIMIT) as client:
        return withdraw_jobs(client, caller, until)


def ask_wconfd(paths: Paths) -> list[tuple[str, str]]:
    """@raise GanetiError: it does not run, or cannot do it."""
    with Client(str(paths.wconfd_socket), daemon=MASTER_DAEMON, answer_timeout=SPREAD_LIMIT * 2) as client:
        answer = client.call(SPREAD_RAPI_FILES.name, [(0, ""), SPREAD_LIMIT])
    return msgspec.convert(answer, SPREAD_RAPI_FILES.result)


def main() -> int:
    """The program; its exit status."""
    os.umask(0o077)
    try:
        paths = Paths.from_environment(os.environ)
    except ValueError as error:
        print(f"ganeti-rapi-access: {error}", file=sys.stderr)
        return ExitCode.FAILURE
    terminal = Terminal(
        paths=paths, files=RealFiles(InlineThreads()), owners=owners_at(paths),
        entropy=SystemEntropy(), now=time.time, stdin=sys.stdin, out=sys.stdout, err=sys.stderr, ask=getpass.getpass,
        own_name=own_name(), spread=lambda: ask_wconfd(paths), withdraw=lambda *asked: ask_luxid(paths, *asked),
    )  # fmt: skip
    return run(terminal, sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
