"""A minimal Debian in a directory, with a clone of this checkout: shows that the README's commands do all the set-up.

It has nothing but python3, python3-venv, git and apt, and this machine's ways to package indexes: apt's sources and settings,
pip's settings, proxies, certificates, name servers. The clock cannot be set in it, and packages start no daemons.
"""

import fcntl
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from shutil import which

from twisted.trial.unittest import SkipTest

ROOT = Path(__file__).resolve().parents[3]
SCRIPT = Path(__file__).with_name("bare_root.sh")
TARBALL = ROOT / ".cache" / "bare-root.tar"
PACKAGES = "python3,python3-venv,git,apt"
SUITE = "bookworm"
#: Seconds for making the tarball, and for one command.
MAKE_LIMIT = 600
COMMAND_LIMIT = 900
#: Programs that it takes on this machine.
TOOLS = ("mmdebstrap", "git", "unshare", "setpriv", "tar")
SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
NO_CLOCK = ["setpriv", "--bounding-set", "-sys_time", "--inh-caps", "-sys_time"]
NAMESPACES = ["unshare", "--mount", "--uts", "--ipc", "--pid", "--fork", "--kill-child", "--mount-proc"]
#: Settings in the environment that say how to reach package indexes.
WAYS_OUT = re.compile(r"PIP_[A-Z_]+|[a-z]+_proxy|[A-Z]+_PROXY|SSL_CERT_(FILE|DIR)|\w+_CA_BUNDLE|GIT_SSL_CAINFO")
APT = Path("/etc/apt")
#: What a file of apt's sources has in it that is about this suite of Debian itself.
OF_DEBIAN = re.compile(rf"(?<!\S){SUITE}(-security|-updates)?(?!\S).*(?<!\S)main(?!\S)", re.DOTALL)
PIP_SETTINGS = [Path("/etc/pip.conf"), Path.home() / ".config/pip/pip.conf", Path.home() / ".pip/pip.conf"]
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")


class BareRoot:
    """One such root with a clone of what is checked out; `close` removes it."""

    def __init__(self) -> None:
        need_what_it_takes()
        self.directory = Path(tempfile.mkdtemp(prefix="gtx-bare-", dir="/var/tmp"))
        try:
            self.directory.chmod(0o755)
            # The network is this machine's, and a devcluster's addresses come from its directory's name, in root's home.
            self.home = Path("/", self.directory.name)
            self.checkout = self.home / "ganeti_tx"
            checked(["tar", "xf", str(tarball()), "-C", str(self.directory), "--numeric-owner"], MAKE_LIMIT)
            self._settle()
            clone(self._here(self.checkout))
        except BaseException:
            self.close()
            raise

    def _settle(self) -> None:
        """What an administrator of this machine would have given it."""
        for path in (Path("/etc/resolv.conf"), Path("/etc/hosts"), CERTIFICATES, *local_authorities()):
            self._copy(path, path)
        for path in PIP_SETTINGS:
            self._copy(path, self.home / path.relative_to(Path.home()) if Path.home() in path.parents else path)
        users = self._here(Path("/etc/passwd"))
        users.write_text(users.read_text().replace(":/root:", f":{self.home}:"))
        no_daemons = self._here(Path("/usr/sbin/policy-rc.d"))
        no_daemons.write_text("#!/bin/sh\nexit 101\n")
        no_daemons.chmod(0o755)

    def _here(self, path: Path) -> Path:
        return self.directory / path.relative_to("/")

    def _copy(self, path: Path, place: Path) -> None:
        """A file of this machine, if it is there."""
        if path.exists():
            self._here(place).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, self._here(place))

    def run(self, *words: str) -> tuple[int, str]:
        """Run a command in the checkout; its exit status and all that it said."""
        environment = {name: value for name, value in os.environ.items() if WAYS_OUT.fullmatch(name)}
        entering = [
            *NO_CLOCK,
            *NAMESPACES,
            str(SCRIPT),
            str(self.directory),
            str(self.checkout),
            *local_indexes(),
            "--",
        ]
        try:
            done = subprocess.run(
                [*entering, *words],
                env={"HOME": str(self.home), "LANG": "C.UTF-8", "PATH": SYSTEM_PATH, **environment},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=COMMAND_LIMIT,
                check=False,
            )
        except subprocess.TimeoutExpired as expired:
            said = (expired.stdout or b"").decode(errors="replace")
            raise AssertionError(f"{words} did not end within {COMMAND_LIMIT} s; it said: {said}") from None
        return done.returncode, done.stdout.decode(errors="replace")

    def close(self) -> None:
        """Remove it."""
        shutil.rmtree(self.directory)


def need_what_it_takes() -> None:
    """@raise SkipTest: this machine cannot have such a root."""
    if os.geteuid() != 0:
        raise SkipTest("only root can make a Debian root directory and enter it")
    missing = [tool for tool in TOOLS if which(tool) is None]
    if missing:
        raise SkipTest(f"not installed: {', '.join(missing)}")
    if not (ROOT / ".git").exists():
        raise SkipTest(f"{ROOT} is no checkout that could be cloned")
    if not apt_sources():
        raise SkipTest(f"this machine's apt has no sources of Debian's {SUITE}")
    if subprocess.run([*NO_CLOCK, *NAMESPACES, "true"], capture_output=True, check=False).returncode != 0:
        raise SkipTest("no namespaces can be made here")


def tarball() -> Path:
    """The root as it is unpacked, made once. @raise SkipTest: no Debian archive can be reached."""
    TARBALL.parent.mkdir(exist_ok=True)
    with TARBALL.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not TARBALL.exists():
            make_tarball(TARBALL)
    return TARBALL


def make_tarball(path: Path) -> None:
    """Have mmdebstrap make it, with this machine's settings of apt."""
    new = path.with_suffix(".new.tar")
    settings = [str(each) for each in local_settings_of_apt()]
    copying = [f"--setup-hook=copy-in {each} /etc/apt/apt.conf.d" for each in settings]
    sources = [str(each) for each in apt_sources()]
    made = subprocess.run(
        ["mmdebstrap", "--quiet", "--mode=root", "--variant=minbase", f"--include={PACKAGES}",
         "--dpkgopt=force-unsafe-io", *copying, SUITE, str(new), *sources],
        env={**os.environ, "PATH": SYSTEM_PATH}, capture_output=True, text=True, timeout=MAKE_LIMIT, check=False,
    )  # fmt: skip
    if made.returncode != 0:
        new.unlink(missing_ok=True)
        raise SkipTest(f"no Debian root can be made: {made.stderr.strip()[-500:]}")
    new.rename(path)


def clone(target: Path) -> None:
    """A clone of what is checked out; changes that are not committed are named."""
    with tempfile.NamedTemporaryFile("w", suffix=".gitconfig") as settings:
        settings.write("[safe]\n\tdirectory = *\n")  # the checkout may be another user's
        settings.flush()
        environment = {**os.environ, "GIT_CONFIG_GLOBAL": settings.name}
        checked(["git", "clone", "--quiet", "--no-hardlinks", str(ROOT), str(target)], MAKE_LIMIT, environment)
        changed = checked(["git", "-C", str(ROOT), "status", "--porcelain"], MAKE_LIMIT, environment)
        commit = checked(["git", "-C", str(target), "rev-parse", "--short", "HEAD"], MAKE_LIMIT, environment).strip()
    if changed:
        print(f"(what is tested is commit {commit}; without what is not committed: {len(changed.splitlines())} files)")


def checked(argv: Sequence[str], limit: float, environment: dict[str, str] | None = None) -> str:
    """What a command that must succeed said."""
    done = subprocess.run(argv, env=environment, capture_output=True, text=True, timeout=limit, check=False)
    if done.returncode != 0:
        raise AssertionError(f"{argv} ended with {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


def of_no_package(paths: Iterator[Path]) -> list[Path]:
    """Those files that somebody put there by hand."""
    return [path for path in sorted(paths) if subprocess.run(["dpkg", "-S", str(path)], capture_output=True).returncode]


def apt_sources() -> list[Path]:
    """The files that say where this machine gets Debian from."""
    found = [APT / "sources.list", *sorted((APT / "sources.list.d").glob("*"))]
    return [path for path in found if path.is_file() and OF_DEBIAN.search(path.read_text())]


def local_settings_of_apt() -> list[Path]:
    """This machine's own."""
    return of_no_package((APT / "apt.conf.d").iterdir())


def local_authorities() -> list[Path]:
    """Certificates that this machine trusts beyond Debian's."""
    return sorted(Path("/usr/local/share/ca-certificates").glob("*.crt"))


def local_indexes() -> list[str]:
    """Directories that pip's settings name, of an index the one above, where the files lie."""
    said = [path.read_text() for path in PIP_SETTINGS if path.exists()]
    said += [f"{name}={value}" for name, value in os.environ.items() if name.startswith("PIP_")]
    named = re.findall(r"(?:file://|[=, ])(/[^\s,\"]+)", "\n".join(said))
    found = {re.sub(r"/simple/*$", "", path) for path in named}
    return sorted(path for path in found if Path(path).is_dir())
