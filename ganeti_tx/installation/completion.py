"""Completion for bash: the subcommands of every gnt-* program and their options, from the programs' own declarations."""

from collections.abc import Iterator, Sequence

from ganeti_tx.cli.main import program_named
from ganeti_tx.cli.options import Command
from ganeti_tx.cli.program import Entry, Program, load

FUNCTION = """\
_ganeti() {
    local program=${COMP_WORDS[0]##*/} word=${COMP_WORDS[COMP_CWORD]} verb= words=
    [ "$COMP_CWORD" -lt 2 ] || verb=${COMP_WORDS[1]}
    case "$program $verb" in
%s
    esac
    if [ -z "$verb" ] || [ "${word:0:1}" = - ]; then
        COMPREPLY=($(compgen -W "$words" -- "$word"))
    fi
}
complete -o default -F _ganeti %s
"""


def bash_completion(names: Sequence[str]) -> str:
    """A file for bash to read. @param names: the gnt-* programs"""
    cases = [case for name in names for case in _cases(program_named(name))]
    return FUNCTION % ("\n".join(f'        "{words}") words="{reply}";;' for words, reply in cases), " ".join(names))


def _cases(program: Program) -> Iterator[tuple[str, str]]:
    """Program and subcommand, and what may come there."""
    commands: dict[str, Entry] = {**program.commands} | {
        alias: program.commands[name] for alias, name in program.aliases.items() if name in program.commands
    }
    yield f"{program.name} ", " ".join(sorted({*commands, "--help", "--version"}))
    for name, entry in sorted(commands.items()):
        yield f"{program.name} {name}", " ".join(_flags(load(entry)))


def _flags(command: Command) -> list[str]:
    return sorted({flag for option in command.all_options for flag in option.flags} | {"--help"})
