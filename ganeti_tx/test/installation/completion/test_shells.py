"""Tests of the shells themselves with what is put in place for them, run where no master answers."""

import shutil
import subprocess
import sys
from pathlib import Path
from unittest import SkipTest

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.installation.completion.scripts import bash_completion, fish_completion, zsh_completion
from ganeti_tx.installation.contents import has_mark, with_mark

ASKED = f"{sys.executable} -m ganeti_tx.installation.completion.main"
PROGRAMS = ("gnt-instance", "gnt-job", "gnt-node", "gnt-cluster", "ganeti-watcher")
#: A name that does harm if any shell evaluates it.
HOSTILE = "evil$(touch was-run)`touch was-run`;touch was-run"
LIMIT = 60


class ShellCase(SynchronousTestCase):
    """A directory in which a node's names are, and where what is evaluated leaves a trace."""

    shell = ""

    def setUp(self) -> None:
        if shutil.which(self.shell) is None:
            raise SkipTest(f"there is no {self.shell}")
        self.root = Path(self.mktemp()).absolute()
        data = self.root / "var/lib/ganeti"
        data.mkdir(parents=True)
        (data / "ssconf_instance_list").write_text(f"web1.example\nweb2.example\n{HOSTILE}\n")
        (data / "ssconf_node_list").write_text("node1.example\n")

    def run_shell(self, script: str, *words: str) -> str:
        """What a script prints; nothing may be said on standard error, and nothing evaluated."""
        (self.root / "script").write_text(script)
        environ = {"GANETI_ROOTDIR": str(self.root), "PATH": "/usr/bin:/bin", "HOME": str(self.root), "TERM": "dumb",
                   "PYTHONPATH": str(Path(__file__).parents[4]), "PYTHONDONTWRITEBYTECODE": "1"}  # fmt: skip
        done = subprocess.run(
            [self.shell, *(["-f"] if self.shell == "zsh" else []), str(self.root / "script"), *words],
            cwd=self.root, env=environ, capture_output=True, text=True, timeout=LIMIT, check=False,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
        self.assertEqual((done.stderr, (self.root / "was-run").exists()), ("", False))
        return done.stdout


class BashTests(ShellCase):
    """What bash puts into COMPREPLY."""

    shell = "bash"

    def offered(self, *words: str) -> list[str]:
        """For the words as bash cuts them."""
        script = (
            f'{bash_completion(PROGRAMS, ASKED)}\nCOMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _ganeti\n'
            'printf "%s\\n" "${COMPREPLY[@]}"\n'
        )
        return self.run_shell(script, *words).splitlines()

    def test_words(self) -> None:
        """Subcommands, options, values that stand behind a mark."""
        self.assertEqual(self.offered("/opt/bin/gnt-node", "mod"), ["modify", "modify-storage"])
        self.assertEqual(self.offered("gnt-node", "modify", "--auto"), ["--auto-promote"])
        self.assertEqual(self.offered("gnt-instance", "migrate", "--target-node", "=", "no"), ["node1.example"])
        self.assertEqual(self.offered("gnt-node", "volumes", "-o", "name,si"), ["name,size"])
        self.assertEqual(self.offered("gnt-instance", "add", "-H", "kvm", ":", "acpi", "=", "no,keym"), ["no,keymap="])

    def test_names(self) -> None:
        """A hostile name stands quoted on the line, and is the argument when the line is run."""
        self.assertEqual(self.offered("gnt-instance", "startup", "web"), ["web1.example", "web2.example"])
        (line,) = self.offered("gnt-instance", "startup", "evil$(touch was-run)")
        self.assertEqual(self.run_shell(f"printf %s {line}"), HOSTILE)


class ZshTests(ShellCase):
    """What zsh has on its line after the key, in a terminal of its own."""

    shell = "zsh"

    def completed(self, *lines: str) -> list[str]:
        """The lines after the key was pressed behind each."""
        site = self.root / "site"
        site.mkdir()
        (site / "_ganeti").write_text(with_mark("_ganeti", zsh_completion(PROGRAMS, ASKED)))
        (self.root / "ready.zsh").write_text(
            "PS1= ; unsetopt beep; zstyle ':completion:*' insert-unambiguous true\n"
            "fpath=($PWD/site $fpath); autoload -Uz compinit; compinit -u -D\n"
            'shown() { print -r -- "$BUFFER" >> lines; BUFFER= ; zle reset-prompt }\n'
            "zle -N shown; bindkey '^X' shown; bindkey '^I' complete-word; : > ready\n"
        )
        script = (
            "zmodload zsh/zpty zsh/zselect\n"
            "waited() { local -i tries=0; until eval $1; do (( ++tries > 400 )) && exit 1; zselect -t 5; zpty -r -t z o; done }\n"
            "zpty -b z zsh -f -i\nzpty -w z 'source ./ready.zsh'\nwaited '[[ -e ready ]]'\n"
            "for line; do (( ++n )); zpty -w -n z \"$line\"$'\\t\\x18'; "
            "waited '[[ -e lines ]] && (( $(wc -l < lines) == n ))'; done\ncat lines\nzpty -d z\n"
        )
        return self.run_shell(script, *lines).splitlines()

    def test_lines(self) -> None:
        """Subcommands, options, names, values without a blank behind a mark; a hostile name is quoted."""
        *plain, hostile = self.completed(
            "gnt-node power",
            "gnt-node modify --auto",
            "gnt-instance startup we",
            "gnt-instance migrate --target-node=no",
            "gnt-instance add -H kvm:acp",
            "gnt-node volumes -o name,si",
            "ganeti-watcher --ignore",
            "gnt-instance startup ev",
        )
        self.assertEqual(
            plain,
            [
                "gnt-node power",
                "gnt-node modify --auto-promote ",
                "gnt-instance startup web",
                "gnt-instance migrate --target-node=node1.example ",
                "gnt-instance add -H kvm:acpi=",
                "gnt-node volumes -o name,size ",
                "ganeti-watcher --ignore-pause ",
            ],
        )
        self.assertEqual(self.run_shell(f"printf %s {hostile.removeprefix('gnt-instance startup ')}"), HOSTILE)

    def test_mark(self) -> None:
        """zsh reads in the first line what the file is for, so the mark of its origin is in the second."""
        text = with_mark("_ganeti", zsh_completion(PROGRAMS, ASKED))
        self.assertTrue(text.startswith("#compdef gnt-instance "))
        self.assertTrue(has_mark(text))


class FishTests(ShellCase):
    """What fish offers."""

    shell = "fish"

    def offered(self, line: str) -> list[str]:
        """For a line, without meanings."""
        text = "".join(fish_completion(name, ASKED) for name in PROGRAMS)
        out = self.run_shell(f"{text}\ncomplete -C $argv[1]\n", line)
        return [each.split("\t")[0] for each in out.splitlines()]

    def test_words(self) -> None:
        """Subcommands, options, values, names; a hostile name is text."""
        self.assertEqual(self.offered("gnt-node modi"), ["modify", "modify-storage"])
        self.assertEqual(self.offered("gnt-node modify --auto"), ["--auto-promote"])
        self.assertEqual(self.offered("gnt-instance migrate --target-node=no"), ["--target-node=node1.example"])
        self.assertEqual(self.offered("gnt-node volumes -o name,si"), ["name,size"])
        self.assertEqual(self.offered("gnt-instance startup "), [HOSTILE, "web1.example", "web2.example"])
        self.assertEqual(self.offered("gnt-instance add -H kvm:acp"), ["kvm:acpi="])
