"""The words after a subcommand: options and arguments, checked, or one clear line about what is wrong with them."""

import copy
import optparse
import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from ganeti_tx.cli.options import PRIORITIES, Argument, Command, Option
from ganeti_tx.cli.values import READERS, InvalidValue, is_natural
from ganeti_tx.errors import ExitCode
from ganeti_tx.model.nearest import did_you_mean


class UsageError(Exception):
    """What was typed cannot be taken; the text is one line for the operator."""

    status = ExitCode.FAILURE


class OptionError(UsageError):
    """An option that the command has not, or that cannot be read; such words end with a status of their own."""

    status = ExitCode.USAGE


class HelpShown(Exception):
    """The text that was asked for, instead of a run."""


class Parsed(optparse.Values):
    """The options of one command by destination."""

    def __getattr__(self, name: str) -> Any:
        """Only for names that no option of the command has set."""
        raise AttributeError(f"the command has no option with destination {name!r}")


def parse(
    program: str, name: str, command: Command, words: Sequence[str], environ: Mapping[str, str]
) -> tuple[Parsed, list[str]]:
    """The options and arguments of a subcommand.

    As the Ganeti 3.0 command line table says, options end at the first argument, and words from the environment
    variable of a command stand before those typed.

    @raise UsageError: a wrong option, value, or number of arguments.
    @raise HelpShown: help was asked for.
    """
    usual = _default_words(command, environ)
    try:
        return _parse(program, name, command, [*usual, *words])
    except UsageError as error:
        if usual:
            error.args = (f"{error} (with {command.default_args}={shlex.join(usual)!r} from the environment)",)
        raise


def _parse(program: str, name: str, command: Command, words: Sequence[str]) -> tuple[Parsed, list[str]]:
    parser = option_parser(program, name, command)
    values = Parsed(vars(parser.get_default_values()))
    _same, arguments = parser.parse_args(_with_bare_flags(command, words), values)
    _check_arguments(command.arguments, arguments)
    return values, arguments


def option_parser(program: str, name: str, command: Command) -> optparse.OptionParser:
    """The parser of one subcommand, which accepts abbreviated long options."""
    parser = _Parser(
        prog=f"{program} {name}",
        usage=f"%prog [options] {usage_of(command.arguments)}".rstrip(),
        option_class=_TypedOption,
    )
    parser.own = frozenset(flag for option in command.all_options for flag in _own_flags(option))
    parser.disable_interspersed_args()
    for option in command.all_options:
        _declare(parser, option)
    return parser


def _own_flags(option: Option) -> tuple[str, ...]:
    return (*option.flags, *option.old_flags) if option.own else option.old_flags


def usage_of(arguments: Sequence[Argument]) -> str:
    """The arguments as a usage line shows them."""
    return " ".join(_usage_of_one(argument) for argument in arguments)


def _usage_of_one(argument: Argument) -> str:
    shown = argument.shown or _WORDS.get(argument.kind, argument.kind)
    word = "|".join(argument.choices) if argument.kind == "choice" else f"<{shown}>"
    many = argument.most is None
    if argument.least == 0:
        return f"[{word}...]" if many else f"[{word}]"
    return f"{word}..." if many else word


#: How the parser tells of words that it does not know.
_NO_OPTION = re.compile(r"no such option: (\S+)")
_NO_CHOICE = re.compile(r"option \S+: invalid choice: '(.*)' \(choose from (.*)\)")
_NAMED = frozenset({"host", "instance", "jobid", "name", "node"})
_WORDS = {"filter": "uuid", "jobid": "job-id", "unknown": "word", "suggest": "age"}


def _default_words(command: Command, environ: Mapping[str, str]) -> list[str]:
    text = environ.get(command.default_args, "") if command.default_args else ""
    try:
        return shlex.split(text)
    except ValueError as error:
        raise UsageError(f"environment variable {command.default_args}: {error}: {text!r}") from None


def _with_bare_flags(command: Command, words: Sequence[str]) -> list[str]:
    """The words, with its usual value given to each flag that may stand alone and does."""
    bare = {flag: option for option in command.all_options if option.bare is not None for flag in option.flags}
    alone = [not following or following.startswith("-") for following in [*words[1:], ""]]
    return [
        f"{word}={bare[word].bare}" if word in bare and (is_alone or bare[word].attached) else word
        for word, is_alone in zip(words, alone, strict=bool(words))
    ]


def _check_arguments(wanted: Sequence[Argument], given: Sequence[str]) -> None:
    least = sum(argument.least for argument in wanted)
    most = None if any(argument.most is None for argument in wanted) else sum(arg.most or 0 for arg in wanted)
    if not wanted and given:
        raise UsageError(f"takes no arguments, got {given[0]!r}{_hint(given)}")
    if len(given) < least or (most is not None and len(given) > most):
        raise UsageError(f"wants {usage_of(wanted)}, got {len(given)} arguments{_hint(given)}")
    for argument, word in zip(wanted, given, strict=False):
        if argument.kind == "choice" and word not in argument.choices:
            raise UsageError(
                f"invalid argument {word!r}: choose from {', '.join(argument.choices)}{_meant(word, argument.choices)}"
            )
    if wanted and wanted[-1].kind in _NAMED:
        _check_names(given)


def _check_names(given: Sequence[str]) -> None:
    """No object's name starts with a dash, so such a word is an option that came too late."""
    for word in given:
        if word[:1] == "-" and (word[1:2].isalpha() or word[1:2] == "-"):
            raise UsageError(f"invalid name {word!r}{_hint(given)}")


def job_ids(words: Sequence[str]) -> list[int]:
    """Job ids as typed. @raise UsageError: one is no number."""
    for word in words:
        if not is_natural(word):
            raise UsageError(f"invalid job id {word!r}: give a number")
    return [int(word) for word in words]


def _meant(typed: str, known: Sequence[str]) -> str:
    question = did_you_mean(typed, known)
    return f" ({question})" if question else ""


def _hint(given: Sequence[str]) -> str:
    late = [word for word in given if word.startswith("-")]
    return f" (options such as {late[0]} stand before the arguments)" if late else ""


def _declare(parser: optparse.OptionParser, option: Option) -> None:
    settings: dict[str, Any] = {"dest": option.dest, "help": option.help, "action": option.action}
    settings["default"] = copy.copy(option.default)  # lists grow by "append"
    if option.takes is not None:
        settings["type"] = option.takes
        settings["metavar"] = option.metavar or option.dest.upper()
    if option.choices:
        settings["choices"] = [str(choice) for choice in option.choices]
    if option.const is not None:
        settings["const"] = option.const
    if option.action == "callback":
        settings["callback"] = _store_priority
    parser.add_option(*option.flags, **settings)
    if option.old_flags:
        parser.add_option(*option.old_flags, **(settings | {"help": optparse.SUPPRESS_HELP}))


def _store_priority(option: optparse.Option, flag: str, value: Any, parser: optparse.OptionParser) -> None:
    setattr(parser.values, str(option.dest), PRIORITIES[value])


def _read_typed(option: optparse.Option, flag: str, text: str) -> Any:
    try:
        return READERS[str(option.type)](text)
    except InvalidValue as error:
        if option.type == "bool":  # ends with the status that it has in Ganeti, unlike other options
            raise UsageError(f"option {flag}: {error}") from None
        raise optparse.OptionValueError(f"option {flag}: {error}") from None


class _TypedOption(optparse.Option):
    """An option with the value types of the command line table."""

    TYPES = ("string", "choice", *READERS)
    TYPE_CHECKER = {**optparse.Option.TYPE_CHECKER, **dict.fromkeys(READERS, _read_typed)}


class _Parser(optparse.OptionParser):
    """Raises where optparse would print and exit."""

    #: The flags that Ganeti does not have.
    own: frozenset[str] = frozenset()

    def _match_long_opt(self, opt: str) -> str:
        """A flag of our own takes no abbreviation away from the flags that scripts may have shortened."""
        known = [flag for flag in self._long_opt if flag not in self.own and flag.startswith(opt)]
        if opt in self._long_opt or len(known) != 1:
            return str(super()._match_long_opt(opt))
        return str(known[0])

    def error(self, msg: str) -> NoReturn:
        raise OptionError(msg + self._hint(msg))

    def _hint(self, message: str) -> str:
        """The option, or the choice for its value, that is nearest to what was typed."""
        if option := _NO_OPTION.fullmatch(message):
            return _meant(option[1].partition("=")[0], [*self._long_opt, *self._short_opt])
        if choice := _NO_CHOICE.fullmatch(message):
            return _meant(choice[1], [word.strip("'") for word in choice[2].split(", ")])
        return ""

    def print_help(self, file: Any = None) -> None:
        raise HelpShown(self.format_help())
