"""What the shells read. Each asks one program, so that all of them offer the same, and what the installed version takes.

Typed words go to the program by its standard input, where nobody sees them who lists processes; what comes back is text
and is never evaluated.
"""

import re
from collections.abc import Mapping, Sequence
from importlib.metadata import EntryPoint

#: The program that the shells ask.
PROGRAM = "ganeti-complete"
BASH = "etc/bash_completion.d/ganeti"
ZSH = "usr/local/share/zsh/site-functions/_ganeti"
#: fish looks for a file of the command's name.
FISH = "etc/fish/completions/%s.fish"

_BASH = """\
_ganeti() {
    local -a answer
    mapfile -t answer < <(printf '%%s\\0' "${COMP_WORDS[@]:0:COMP_CWORD+1}" | %(asked)s bash 2>/dev/null)
    COMPREPLY=("${answer[@]:1}")
    if [ "${answer[0]}" = files ]; then
        compopt -o default -o filenames 2>/dev/null
    else
        compopt +o default 2>/dev/null
    fi
    case "${COMPREPLY[0]}" in
        *[=,:]) compopt -o nospace 2>/dev/null ;;
    esac
}
complete -F _ganeti %(names)s
"""
_ZSH = """\
#compdef %(names)s
local line word
local -a answer whole whole_shown open open_shown
answer=("${(@f)$(print -rN -- "${(@Q)words[1,CURRENT]}" | %(asked)s zsh 2>/dev/null)}")
for line in "${(@)answer[2,-1]}"; do
    word=${line%%%%$'\\t'*}
    if [[ $word == *[=,:] ]]; then
        open+=("$word")
        open_shown+=("${line/$'\\t'/ -- }")
    else
        whole+=("$word")
        whole_shown+=("${line/$'\\t'/ -- }")
    fi
done
(( $#whole )) && compadd -l -d whole_shown -a whole
(( $#open )) && compadd -S '' -l -d open_shown -a open
[[ $answer[1] == files ]] && _files
return 0
"""
_FISH = """\
function __ganeti_complete
    set -l typed (commandline -ct)
    set -l word (string unescape -- "$typed")
    or set word "$typed"
    set -l answer (printf '%%s\\0' (commandline -opc) "$word" | %(asked)s fish 2>/dev/null)
    test "$answer[1]" = files
    and __fish_complete_path "$word"
    set -q answer[2]
    and printf '%%s\\n' $answer[2..-1]
end
complete -c %(name)s -f -k -a '(__ganeti_complete)'
"""


def completion_files(programs: Mapping[str, EntryPoint], asked: str) -> dict[str, str]:
    """By path below the root. @param asked: where the program is that the shells ask."""
    return {
        BASH: bash_completion(list(programs), asked),
        ZSH: zsh_completion(list(programs), asked),
        **{FISH % name: fish_completion(name, asked) for name in programs},
    }


def bash_completion(names: Sequence[str], asked: str) -> str:
    """For these programs."""
    return _BASH % {"names": " ".join(_plain(names)), "asked": asked}


def zsh_completion(names: Sequence[str], asked: str) -> str:
    """For these programs."""
    return _ZSH % {"names": " ".join(_plain(names)), "asked": asked}


def fish_completion(name: str, asked: str) -> str:
    """For one program."""
    return _FISH % {"name": _plain([name])[0], "asked": asked}


def _plain(names: Sequence[str]) -> Sequence[str]:
    """They stand in the text as they are."""
    assert all(re.fullmatch("[a-z-]+", name) for name in names), names
    return names
