"""SSH on the first node of a cluster: its keys; and what a node that leaves forgets."""

import shutil

from ganeti_tx.bootstrap.problems import BootstrapError, Problems
from ganeti_tx.bootstrap.settings import InitSettings
from ganeti_tx.bootstrap.start import run
from ganeti_tx.model.ssh_keys import BITS, public_key
from ganeti_tx.runtime.authorized_keys import MODE, merged
from ganeti_tx.runtime.files import IFiles, RealFiles
from ganeti_tx.runtime.files_replace import replace_file
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.ssh_keys import KEYGEN_LIMIT, PROGRAM, host_keys, keygen_argv, root_public_key
from ganeti_tx.runtime.threads import InlineThreads


def check_ssh(settings: InitSettings, problems: Problems) -> None:
    """The type and length of the keys are possible, and they can be made."""
    allowed = BITS.get(settings.ssh_key_type)
    if allowed is None:
        problems.add(f"--ssh-key-type must be one of {', '.join(BITS)}, not {settings.ssh_key_type!r}")
    elif settings.ssh_bits not in allowed:
        words = f"{allowed[0]} to {allowed[-1]}" if isinstance(allowed, range) else ", ".join(map(str, sorted(allowed)))
        problems.add(f"--ssh-key-bits must be {words} for {settings.ssh_key_type} keys, not {settings.ssh_bits}")
    if settings.modify_ssh_setup:
        why = f"there is no {PROGRAM} to make root's key (Debian: openssh-client); --no-ssh-init leaves SSH alone"
        problems.unless(shutil.which(PROGRAM) is not None, why)


def own_host_keys(paths: Paths) -> list[str]:
    """The public keys of this machine's SSH daemon."""
    return host_keys(files(), paths)


def own_root_key(paths: Paths, settings: InitSettings, name: str) -> str:
    """The public half of root's key here, which is made if it is not there. @raise BootstrapError: it cannot be."""
    kind = settings.ssh_key_type
    found = root_public_key(files(), paths, kind)
    if found is not None:
        return found
    argv = keygen_argv(files(), paths, kind, settings.ssh_bits, name)
    done = run(argv, KEYGEN_LIMIT)
    told = root_public_key(files(), paths, kind) or public_key(done.stdout)
    if done.returncode != 0 or told is None:
        last = (done.stderr or done.stdout).strip().splitlines()[-1:]
        raise BootstrapError(f"{PROGRAM} for {argv[-1]}: status {done.returncode}: {''.join(last)}")
    return told


def forget_authorized(paths: Paths) -> None:
    """Let nobody of the cluster in any more. @raise OSError"""
    path = paths.root_authorized_keys
    if not path.exists():
        return
    present = path.read_bytes()
    wanted = merged(present, {})
    if wanted != present:
        replace_file(path, wanted, MODE)


def files() -> IFiles:
    """This machine's."""
    return RealFiles(InlineThreads())
