"""From the words of a command line to what may stand for the last of them."""

from collections.abc import Sequence

from ganeti_tx.cli.completion.arguments import argument_offer, resource_of
from ganeti_tx.cli.completion.names import INames
from ganeti_tx.cli.completion.offer import Candidate, Offer, begun
from ganeti_tx.cli.completion.typed import flags_of, long_option, read, short_option
from ganeti_tx.cli.completion.values import value_offer
from ganeti_tx.cli.options import Command, Option
from ganeti_tx.cli.program import Program, load

_HELP = Option(("-h", "--help"), "help", "show what there is", action="help")
_OF_PROGRAM = (Candidate("--help", "show what there is"), Candidate("--version", "show the version"))


def complete(program: Program, words: Sequence[str], names: INames) -> Offer:
    """What may stand for the last word. @param words: those behind the program's name; the last may be empty."""
    *before, typed = words
    if not before:
        return begun(Offer((*_subcommands(program), *_OF_PROGRAM)), typed)
    name = program.aliases.get(before[0], before[0])
    if name not in program.commands:
        return Offer()
    return complete_command(program.name, name, load(program.commands[name]), words[1:], names)


def complete_command(
    program: str, name: str, command: Command, words: Sequence[str], names: INames, *, interspersed: bool = False
) -> Offer:
    """The same for the words behind a subcommand, or behind a program that has none."""
    *before, typed = words
    options = (*command.all_options, _HELP) if not interspersed else command.options
    so_far = read(command, options, before, interspersed=interspersed)
    resource = resource_of(program, name)
    if so_far.wants_value is not None:
        return value_offer(so_far.wants_value, typed, names, resource)
    if typed.startswith("-") and not so_far.options_over:
        return _option_offer(options, typed, names, resource)
    return argument_offer(program, name, command.arguments, so_far.arguments, typed, names)


def _subcommands(program: Program) -> list[Candidate]:
    named = {**{name: name for name in program.commands}, **program.aliases}
    return [Candidate(word, program.commands[name].help) for word, name in named.items() if name in program.commands]


def _option_offer(options: Sequence[Option], typed: str, names: INames, resource: str) -> Offer:
    """The flags, or the values of one that stands in the same word."""
    flags = flags_of(options)
    flag, mark, value = typed.partition("=")
    if typed.startswith("--"):
        option, ahead = (long_option(flags, flag) if mark else None), flag + mark
    else:
        option, value = short_option(flags, typed)
        ahead = typed[: len(typed) - len(value)]
    if option is not None and option.takes is not None and (value or mark):
        return _behind(value_offer(option, value, names, resource), ahead)
    return begun(Offer(tuple(Candidate(flag, option.help) for option in options for flag in option.flags)), typed)


def _behind(offer: Offer, ahead: str) -> Offer:
    return Offer(tuple(Candidate(ahead + each.word, each.about) for each in offer.candidates), offer.files)
