"""How the nodes of the other cluster are reached: once as ssh asks for it, then with a key that the merge alone has."""

import os
import shlex
import shutil
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from attrs import frozen

from ganeti_tx.bootstrap.problems import BootstrapError
from ganeti_tx.bootstrap.remote_call import REMOTE_SHELL_VARIABLE, RemoteCall, ssh_argv
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.ssh_keys import KEYGEN_LIMIT, MAX_PUBLIC_KEY, PROGRAM
from ganeti_tx.upgrade.remote import ended

DIRECTORY_MODE = 0o700
KEY, KNOWN_HOSTS = "id_ed25519", "known_hosts"


@frozen
class Access:
    """`directory` has the key and the known hosts of this merge."""

    paths: Paths
    directory: Path

    @property
    def public_key(self) -> str:
        """What is let in. @raise OSError"""
        return (self.directory / f"{KEY}.pub").read_text()[:MAX_PUBLIC_KEY].strip()

    def know(self, known_hosts: str) -> None:
        """Know the hosts of one more cluster. @raise OSError"""
        with (self.directory / KNOWN_HOSTS).open("a") as file:
            file.write(known_hosts)

    def first(self, host: str) -> list[str]:
        """ssh to a host that lets in nobody of the merge yet: it may ask for a password, which nobody else sees."""
        return [*RemoteCall(self.paths, host).shell(), host]

    def shell(self, port: int | None = None) -> list[str]:
        """ssh with the key, up to the host's name. @param port: None where nobody knows it but the user's own settings."""
        if named := os.environ.get(REMOTE_SHELL_VARIABLE):
            return shlex.split(named)
        known = f"~/.ssh/known_hosts {self.directory / KNOWN_HOSTS}"
        key = [f"-oIdentityFile={self.directory / KEY}", "-oIdentitiesOnly=yes", f"-oUserKnownHostsFile={known}"]
        return ssh_argv(self.paths, check_host_key=True, port=port, interactive=False, more=key)

    def environ(self, port: int) -> dict[str, str]:
        """That of a command that is to reach a node in the same way."""
        return {**os.environ, REMOTE_SHELL_VARIABLE: shlex.join(self.shell(port))}


@contextmanager
def made_access(paths: Paths) -> Iterator[Access]:
    """A new key, gone in the end. @raise BootstrapError: it cannot be made."""
    directory = paths.merge_dir
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(mode=DIRECTORY_MODE)
    try:
        comment = f"root@{socket.gethostname()}"
        argv = [PROGRAM, "-q", "-t", "ed25519", "-N", "", "-C", comment, "-f", str(directory / KEY)]
        done = ended(argv, KEYGEN_LIMIT, BootstrapError)
        if done.returncode != 0:
            raise BootstrapError(f"{PROGRAM}: {(done.stderr or done.stdout).strip()}")
        yield Access(paths, directory)
    finally:
        shutil.rmtree(directory, ignore_errors=True)
