"""The layers that nodes share, each what one command changes in the file system: made once, kept for the next time."""

import fcntl
import hashlib
import os
import shlex
import shutil
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from attrs import field, frozen

from ganeti_tx.test.nodes.machine import NO_CLOCK, PATH

INSIDE = Path(__file__).with_name("inside.sh")
CHECKOUT = Path(__file__).parents[3]
COVERED = "etc var srv usr opt"
PACKAGES = (
    "systemd systemd-sysv dbus openssh-server openssh-client iproute2 iputils-ping iputils-arping fping procps socat curl"
    " python3 python3-venv qemu-system-x86 qemu-utils busybox-static e2fsprogs"
)
CACHE_VARIABLE = "GANETI_TEST_NODES_CACHE"
DPKG_STATUS = Path("/var/lib/dpkg/status")
#: Seconds that a layer is kept after its last use, and that its making may take.
KEPT = 24 * 3600.0
MAKE_LIMIT = 600.0
NO_SOURCE = (".*", "build", "dist", "*.egg-info", "__pycache__", "_trial_temp*")


class LayerFailed(Exception):
    """A layer's command failed."""


def cache_directory() -> Path:
    """Where layers are kept. Not below a covered directory: an overlay cannot lie over itself."""
    return Path(os.environ.get(CACHE_VARIABLE) or "/tmp/ganeti-test-nodes")


@frozen
class Layer:
    """`command` makes it, over those `below`; it is made anew when these, or the `ingredients`, have changed."""

    name: str
    command: str
    ingredients: bytes = b""
    below: "tuple[Layer, ...]" = ()
    environment: Mapping[str, str] = field(factory=dict)

    @property
    def key(self) -> str:
        """Names its directory."""
        digest = hashlib.sha256(INSIDE.read_bytes() + self.command.encode() + self.ingredients)
        for each in (*sorted(self.environment.items()), *(layer.key for layer in self.below)):
            digest.update(str(each).encode())
        return f"{self.name}-{digest.hexdigest()[:12]}"


def made(layer: Layer, cache: Path) -> list[Path]:
    """The directories of a layer and of those below it, the lowest first. @raise LayerFailed: one cannot be made."""
    own_directory(cache)
    with (cache / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        forget_old(cache)
        return make(layer, cache)


def own_directory(cache: Path) -> None:
    """@raise LayerFailed: somebody else could change what runs as root in the nodes."""
    cache.mkdir(parents=True, exist_ok=True, mode=0o700)
    stat = cache.lstat()
    if stat.st_uid != os.geteuid() or stat.st_mode & 0o022:
        raise LayerFailed(f"{cache} belongs to somebody else, or others may write there")


def make(layer: Layer, cache: Path) -> list[Path]:
    """The same for who holds the lock."""
    below = [path for each in layer.below for path in make(each, cache)]
    directory = cache / layer.key
    if not directory.exists():
        unfinished = cache / f"{layer.key}.new"
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir()
        in_layer(layer, unfinished, below)
        unfinished.rename(directory)
    os.utime(directory)
    return [*below, directory]


def in_layer(layer: Layer, directory: Path, below: Sequence[Path]) -> None:
    """Run the command. @raise LayerFailed: with the last it said."""
    apart = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
    command = ["bash", str(INSIDE), "layer", str(directory), layer.command, *map(str, below)]
    done = subprocess.run(
        [*NO_CLOCK, *apart, *command],
        env={**os.environ, "PATH": PATH, "COVERED": COVERED, **layer.environment},
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=MAKE_LIMIT,
        check=False,
    )
    if done.returncode != 0:
        raise LayerFailed(f"layer {layer.name}: " + "\n".join(done.stdout.splitlines()[-20:]))


def forget_old(cache: Path) -> None:
    """Remove layers that nobody has used for long."""
    for path in cache.iterdir():
        if path.is_dir() and path.stat().st_mtime < time.time() - KEPT:
            shutil.rmtree(path, ignore_errors=True)


def debian(packages: str = "") -> Layer:
    """What every node has of Debian, and more packages if some are named."""
    wanted = f"{PACKAGES} {packages}".strip()
    return Layer("debian", f"bash {INSIDE} debian", DPKG_STATUS.read_bytes(), environment={"PACKAGES": wanted})


def ganeti(packages: str = "", checkout: Path = CHECKOUT) -> Layer:
    """This checkout installed as the README says; what it stands on is a layer of its own, which changes less often."""
    python = "/opt/ganeti_tx/bin/python -m pip --quiet --disable-pip-version-check install"
    copy = f"mkdir /opt/source && cp -r {shlex.join(sources(checkout))} /opt/source && cd /opt/source"
    base = debian(packages)
    needs = Layer(
        "needs",
        f"{copy} && python3 -m venv /opt/ganeti_tx && {python} wheel && {python} . "
        "&& /opt/ganeti_tx/bin/python -m pip --quiet uninstall -y ganeti_tx && rm -rf /opt/source",
        (checkout / "setup.py").read_bytes(),
        (base,),
    )
    install = (
        f"{copy} && {python} --no-deps --no-build-isolation . && rm -rf /opt/source\n/opt/ganeti_tx/bin/ganeti-setup"
    )
    return Layer("ganeti", install, source_digest(checkout), (needs,))


def sources(checkout: Path) -> list[str]:
    """What lies in it; its environment, and what was downloaded for it, are large."""
    kept = (path for path in sorted(checkout.iterdir()) if not any(path.match(name) for name in NO_SOURCE))
    return [str(path) for path in kept]


def source_digest(checkout: Path) -> bytes:
    """Changes when a file does that is installed."""
    digest = hashlib.sha256()
    tops = [checkout / name for name in ("setup.py", "pyproject.toml", "MANIFEST.in", "README.md")]
    for top in (*tops, *(checkout / name for name in ("ganeti_tx", "twisted", "etc", "bin"))):
        for path in sorted(top.rglob("*")) if top.is_dir() else [top]:
            if path.is_file() and path.suffix != ".pyc":
                digest.update(f"{path.relative_to(checkout)} {path.stat().st_mode} ".encode() + path.read_bytes())
    return digest.digest()
