"""Node calls about the master role: the node's vote, and starting and stopping the master daemons on it."""

import signal

from attrs import define
from twisted.logger import Logger

from ganeti_tx.errors import OpExecError
from ganeti_tx.mastership.ballot import Ballot, own_ballot, ssconf_master
from ganeti_tx.node.answers import answers
from ganeti_tx.node.local_daemons import KILL_LIMIT, LocalDaemons
from ganeti_tx.rpc.calls.master import MasterNodeName, MasterVote, NodeStartMasterDaemons, NodeStopMaster
from ganeti_tx.runtime.daemon_names import MASTER, MASTER_PARTS, RAPI
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.threads import IThreads

log = Logger()

#: Any of these makes a node a working master.
MASTERS = (MASTER, *MASTER_PARTS)
NO_VOTING_MODE = 0o600


@define
class MasterRoleCalls:
    """The vote is read from the files; daemons are started and stopped."""

    files: IFiles
    paths: Paths
    threads: IThreads
    daemons: LocalDaemons

    @answers(MasterVote)
    async def vote(self, call: MasterVote) -> Ballot:
        """This node's ballot; a large configuration is read beside the daemon's other work."""
        return await self.threads.run(own_ballot, self.files, self.paths)

    @answers(MasterNodeName)
    async def master_name(self, call: MasterNodeName) -> str:
        """The master by simple configuration."""
        return ssconf_master(self.files, self.paths) or ""

    @answers(NodeStartMasterDaemons)
    async def start(self, call: NodeStartMasterDaemons) -> None:
        """Start the master daemon and wait until it is up, then the Remote API's, without which a master is one, too.

        One part without the other is no master: it is stopped first. So is one that has begun to ask for votes, when it
        shall not.
        @raise OpExecError: it is not; the text has its reason.
        """
        if call.no_voting or not self._is_whole():
            if self.daemons.run(MASTERS):
                await self.daemons.stop(MASTERS)
            await self._start_master(call.no_voting)
        if not self.daemons.run([RAPI]):
            try:
                await self.daemons.start(RAPI)
            except OpExecError as error:
                log.error("this node is the master, but without the Remote API: {error}", error=str(error))

    def _is_whole(self) -> bool:
        return bool(self.daemons.run([MASTER])) or all(self.daemons.run([part]) for part in MASTER_PARTS)

    async def _start_master(self, no_voting: bool) -> None:
        if no_voting:
            await self.files.write_atomic(self.paths.no_voting_file, b"", NO_VOTING_MODE)
        try:
            await self.daemons.start(MASTER)
        finally:
            forget_spared_vote(self.files, self.paths)

    @answers(NodeStopMaster)
    async def stop(self, call: NodeStopMaster) -> None:
        """Stop every master daemon and end the jobs' processes. @raise OpExecError: one of them does not end."""
        await self.daemons.stop((RAPI, *MASTERS))
        self.daemons.signal(self.daemons.processes.jobs(), signal.SIGKILL)
        if not await self.daemons.until(lambda: not self._left(), KILL_LIMIT):
            left = ", ".join(map(str, self._left()))
            raise OpExecError(f"the master daemons do not end (processes {left})")

    def _left(self) -> list[int]:
        return [*self.daemons.run(MASTERS), *self.daemons.processes.jobs()]


def forget_spared_vote(files: IFiles, paths: Paths) -> None:
    """A node daemon that was killed while a start without votes was under way must not spare later ones the vote."""
    if files.exists(paths.no_voting_file):
        files.remove(paths.no_voting_file)
