"""Changing a machine, or only saying what would be changed."""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

from attrs import frozen

from ganeti_tx.errors import GanetiError
from ganeti_tx.installation.accounts import commands
from ganeti_tx.installation.contents import SYSUSERS, TMPFILES, UNITS, Contents, has_mark, is_script
from ganeti_tx.runtime.daemon_names import MASTER, NODE, ON_ALL_NODES, RAPI
from ganeti_tx.runtime.daemon_user import may_repair, prepare
from ganeti_tx.runtime.files_replace import replace_file
from ganeti_tx.runtime.owner_repair import repair_owners
from ganeti_tx.runtime.paths import Paths

SYSTEMD = Path("/run/systemd/system")
#: Each says at its start whether there is something to do for it on this node.
ENABLED = (NODE, MASTER, *ON_ALL_NODES, RAPI)
TIMER = ".timer"
FILE_MODE = 0o644
SCRIPT_MODE = 0o755
COMMAND_LIMIT = 120.0


@frozen
class Machine:
    """A machine by its root directory; what is done is told line by line."""

    root: Path = Path("/")
    dry_run: bool = False
    say: Callable[[str], None] = print

    def set_up(self, wanted: Contents, *, enable: bool = True) -> None:
        """Put everything in place. @raise GanetiError: there is something of somebody else's; then nothing was changed."""
        not_ours = list(self._not_ours(wanted))
        if not_ours:
            raise GanetiError(*(f"{path} is not from ganeti-setup; move it away first" for path in not_ours))
        for name, text in wanted.files.items():
            self._write(self.root / name, text)
        for name, target in wanted.links.items():
            self._link(self.root / name, target)
        self._make_users(wanted)
        self._make_directories()
        timers = [f"{name}{TIMER}" for name in timed(wanted)]
        if enable and shutil.which("systemctl"):
            self._run("systemctl", *self._rooted("--root"), "enable", "--quiet", *ENABLED, *timers)
        self._reload()
        if enable and self._is_ruled:
            self._run("systemctl", "start", *timers)
        if running := self._running(daemons(wanted)):
            self.say(f"these run on as they were started, until 'systemctl restart {' '.join(running)}'")

    def take_away(self, wanted: Contents) -> None:
        """End the daemons, and remove what `set_up` has put there, and nothing else."""
        own = [*(f"{name}{TIMER}" for name in timed(wanted)), *timed(wanted), *daemons(wanted)]
        if running := self._running(own):  # nobody could end them, or start them again, without their units
            self._run("systemctl", "stop", *running)
        units = [
            Path(name).name
            for name, text in wanted.files.items()
            if name.startswith(UNITS) and "[Install]" in text and (self.root / name).exists()
        ]
        if units and shutil.which("systemctl"):
            self._run("systemctl", *self._rooted("--root"), "disable", "--quiet", *units)
        for path in (*map(self.root.joinpath, wanted.files), *map(self.root.joinpath, wanted.links)):
            if self._is_ours(path):
                self._do(f"removed {path}", path.unlink)
            elif os.path.lexists(path):
                self.say(f"left {path}, which is not from ganeti-setup")
        self._reload()

    def _not_ours(self, wanted: Contents) -> Iterator[Path]:
        for path in (*map(self.root.joinpath, wanted.files), *map(self.root.joinpath, wanted.links)):
            if os.path.lexists(path) and not self._is_ours(path):
                yield path

    def _is_ours(self, path: Path) -> bool:
        """A file with our mark; a link to a program of its own name, which an earlier installation may have had elsewhere."""
        if path.is_symlink():
            return Path(os.readlink(path)).name == path.name
        return path.is_file() and has_mark(path.read_bytes().decode("utf-8", "replace"))

    def _write(self, path: Path, text: str) -> None:
        if not path.is_file() or path.read_text() != text:
            self._do(f"wrote {path}", lambda: self._replace(path, text))

    def _replace(self, path: Path, text: str) -> None:
        path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        replace_file(path, text.encode(), SCRIPT_MODE if is_script(text) else FILE_MODE)

    def _link(self, path: Path, target: Path) -> None:
        if not path.is_symlink() or os.readlink(path) != str(target):
            self._do(f"linked {path} to {target}", lambda: self._relink(path, target))

    def _relink(self, path: Path, target: Path) -> None:
        path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        path.symlink_to(target)

    def _make_users(self, wanted: Contents) -> None:
        if shutil.which("systemd-sysusers"):
            self._run("systemd-sysusers", *self._rooted("--root"), str(self.root / SYSUSERS))
        elif self.root == Path("/"):
            for argv in commands(wanted.files[SYSUSERS]):
                self._run(*argv)
        else:
            self.say("made no users: that takes systemd-sysusers in another root")

    def _make_directories(self) -> None:
        """As systemd does at each boot; what is there already may be of daemons that ran as root."""
        if shutil.which("systemd-tmpfiles"):
            self._run("systemd-tmpfiles", *self._rooted("--root"), "--create", str(self.root / TMPFILES))
        if self.root == Path("/"):
            self._do("mended owners and modes of the cluster's files", _mend_all)

    def _reload(self) -> None:
        if self._is_ruled:
            self._run("systemctl", "daemon-reload")

    @property
    def _is_ruled(self) -> bool:
        """Whether systemd runs here, and this is no other root."""
        return self.root == Path("/") and SYSTEMD.is_dir()

    def _running(self, units: list[str]) -> list[str]:
        """Those of some units that systemd runs on this machine."""
        if not self._is_ruled:
            return []
        argv = ["systemctl", "is-active", *units]
        states = subprocess.run(argv, capture_output=True, text=True, timeout=COMMAND_LIMIT, check=False).stdout
        return [
            unit for unit, state in zip(units, states.splitlines(), strict=False) if state in ("active", "activating")
        ]

    def _rooted(self, option: str) -> tuple[str, ...]:
        return () if self.root == Path("/") else (f"{option}={self.root}",)

    def _run(self, *argv: str) -> None:
        """@raise GanetiError: it fails"""
        self._do(f"ran {' '.join(argv)}", lambda: _checked(argv))

    def _do(self, done: str, step: Callable[[], object]) -> None:
        if self.dry_run:
            self.say(f"dry run: {done}")
            return
        step()
        self.say(done)


def timed(wanted: Contents) -> list[str]:
    """What timers start."""
    return [Path(name).stem for name in wanted.files if name.startswith(UNITS) and name.endswith(TIMER)]


def daemons(wanted: Contents) -> list[str]:
    """What runs all the time."""
    names = [Path(name).stem for name in wanted.files if name.startswith(UNITS) and not name.endswith(TIMER)]
    return [name for name in names if name not in timed(wanted)]


def _mend_all() -> None:
    paths = Paths()
    prepare(paths)
    if may_repair(paths):
        repair_owners(paths, archive=True)


def _checked(argv: tuple[str, ...]) -> None:
    try:
        result = subprocess.run(
            argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=COMMAND_LIMIT, check=False
        )
    except subprocess.TimeoutExpired:
        raise GanetiError(f"{argv[0]} did not end within {COMMAND_LIMIT:.0f} s") from None
    except OSError as error:
        raise GanetiError(f"cannot run {argv[0]}: {error.strerror}") from None
    if result.returncode != 0:
        raise GanetiError(f"{' '.join(argv)} failed: {(result.stderr or result.stdout).strip()}")
