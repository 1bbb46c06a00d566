"""Another SSH key for root: made first, and used when all nodes let it in."""

from attrs import define, field
from twisted.internet.defer import DeferredLock

from ganeti_tx.errors import OpExecError, ProgrammerError
from ganeti_tx.model.ssh_keys import BITS
from ganeti_tx.node.answers import answers
from ganeti_tx.rpc.calls.keys import SshMakeKey, SshUseKey
from ganeti_tx.runtime.authorized_keys import DIRECTORY_MODE
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.process import IProcessRunner
from ganeti_tx.runtime.ssh_keys import (
    KEYGEN_LIMIT,
    new_key_argv,
    next_key_file,
    next_public_key,
    public_file,
    root_key_file,
)


@define
class SshRenewal:
    """Private keys are moved only, and never read."""

    files: IFiles
    paths: Paths
    runner: IProcessRunner
    own_name: str
    _lock: DeferredLock = field(factory=DeferredLock)

    @answers(SshMakeKey)
    async def make(self, call: SshMakeKey) -> str:
        """@raise OpExecError: ssh-keygen does not make it."""
        check_type(call.root_type)
        await self._lock.acquire()
        try:
            private = next_key_file(self.paths, call.root_type)
            for path in (private, public_file(private)):
                if self.files.exists(path):
                    self.files.remove(path)
            self.files.mkdir(self.paths.root_ssh_dir, DIRECTORY_MODE)
            argv = new_key_argv(self.paths, call.root_type, call.root_bits, self.own_name)
            done = await self.runner.run(argv, timeout=KEYGEN_LIMIT)
            made = next_public_key(self.files, self.paths, call.root_type) if done.succeeded else None
            if made is None:
                raise OpExecError(
                    f"{argv[0]} makes no {call.root_type} key of {call.root_bits} bits: {done.describe()}"
                )
            return made
        finally:
            self._lock.release()

    @answers(SshUseKey)
    async def use(self, call: SshUseKey) -> None:
        """The public half of the former goes first: with that of another key beside it a private key is of no use."""
        check_type(call.root_type)
        await self._lock.acquire()
        try:
            following, own = next_key_file(self.paths, call.root_type), root_key_file(self.paths, call.root_type)
            if self.files.exists(following):
                if self.files.exists(public_file(own)):
                    self.files.remove(public_file(own))
                self.files.rename(following, own)
            if self.files.exists(public_file(following)):
                self.files.rename(public_file(following), public_file(own))
        finally:
            self._lock.release()


def check_type(kind: str) -> None:
    """@raise ProgrammerError: there is none such."""
    if kind not in BITS:
        raise ProgrammerError(f"no type of SSH keys: {kind[:20]!r}; they are {', '.join(BITS)}")
