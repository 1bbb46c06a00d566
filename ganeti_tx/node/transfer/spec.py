"""What a process that sends or receives a disk is told, in a file of its directory, and what it tells in another."""

from pathlib import Path

import msgspec

#: In a transfer's directory: what to do, how far it is, a lock that is held as long as the process lives, and what is there once
#: an end that holds its farewell may say it.
SPEC, STATUS, LOCK, LOG, RELEASE = "spec", "status", "lock", "log", "release"
MAX_FILE = 256 * 1024


class Script(msgspec.Struct, frozen=True):
    """How a command is run that is a script of an OS definition.

    @ivar environment: all of it; may hold secrets, so the file is root's.
    @ivar directory: in which it runs.
    @ivar log_directory: of its log, which is called `log_name`.
    @ivar hidden: values that are taken out of the log when it has ended.
    """

    environment: dict[str, str]
    directory: str
    log_directory: str
    log_name: str
    hidden: list[str] = []

    def __repr__(self) -> str:
        return f"<Script in {self.directory}>"


class Spec(msgspec.Struct, frozen=True):
    """One end of a transfer.

    @ivar sends: whether it connects and sends, or listens and receives.
    @ivar command: what prints the bytes of the disk, or fills it with what it reads.
    @ivar filter: what packs the bytes, or unpacks them; none when they travel as they are.
    @ivar magic: comes before the bytes, so that no disk is filled by the transfer of another.
    @ivar host: of the peer, or the own address to listen at; `port` is the peer's.
    @ivar peer: the name of the node that the other end's certificate must carry.
    @ivar identity: the file with the own key and certificate; `authority` is that of the cluster's authority.
    @ivar key: the file with the own key, if it is not in that of the certificate.
    @ivar certificate: the only one that the other end may show, whatever it names: there is no authority then.
    @ivar holds: whether who receives waits for a word before the farewell.
    @ivar pins: the file of simple configuration with the digests of the certificates that nodes show who are connected to.
    @ivar connect_limit: seconds within which the other end must be there.
    @ivar size: MiB that are expected; 0 if nobody knows.
    @ivar least: MiB that must come for a disk, or it is not filled; `most`: those that may come; 0 if that is of no concern.
    @ivar script: how the command is run if it is one of an OS definition.
    @ivar sha256: of the bytes, which is checked by who sends; empty: it is told when all is done; None: it is of no concern.
    @ivar patience: seconds of silence after which the other end, or a program at its end, is given up.
    """

    sends: bool
    command: list[str]
    filter: list[str]
    magic: str
    host: str
    port: int
    peer: str
    identity: str
    authority: str
    connect_limit: float
    size: int
    script: Script | None = None
    sha256: str | None = None
    patience: float = 900.0
    pins: str = ""
    key: str = ""
    certificate: str = ""
    holds: bool = False
    least: int = 0
    most: int = 0


class Status(msgspec.Struct, omit_defaults=True):
    """How far it is (reference: import-export-daemon.json, status): times in seconds since the epoch, sizes in MiB."""

    ctime: float = 0.0
    mtime: float = 0.0
    listen_port: int | None = None
    connected: bool = False
    progress_mbytes: int | None = None
    progress_throughput: float | None = None
    progress_percent: float | None = None
    progress_eta: float | None = None
    exit_status: int | None = None
    error_message: str | None = None
    recent_output: list[str] = []
    sha256: str = ""
    filled: bool = False


def read_spec(directory: Path) -> Spec:
    """What a process is told."""
    return msgspec.json.decode((directory / SPEC).read_bytes(), type=Spec)
