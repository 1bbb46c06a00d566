"""The GanetiError tree, the codes that go with it, and its wire form; the names are those of Ganeti 3.0."""

from collections.abc import Sequence
from enum import IntEnum, StrEnum
from typing import Any


class ECode(StrEnum):
    """What kind of refusal an OpPrereqError is."""

    ENVIRON = "environment_error"  # a node, network or file is not as it must be
    EXISTS = "already_exists"  # the object exists already
    FAULT = "internal_error"  # the program is at fault
    INVAL = "wrong_input"  # the request is wrong in itself
    NOENT = "unknown_entity"  # the object does not exist
    NORES = "insufficient_resources"  # not enough disk, memory, nodes
    NOTUNIQUE = "resource_not_unique"  # a name, address or port is taken
    RESOLVER = "resolver_error"  # a name does not resolve
    STATE = "wrong_state"  # the object is in the wrong state
    TEMP_NORES = "temp_insufficient_resources"  # not enough now, later perhaps


class ExitCode(IntEnum):
    """How the commands and daemons end."""

    SUCCESS = 0
    FAILURE = 1
    CONFIGURATION = 2  # the configuration is corrupt
    USAGE = 2  # an option that there is not, or with a value that it cannot have
    NOTCLUSTER = 5  # defined, but nothing ends with it
    NOTMASTER = 11
    NODESETUP_ERROR = 12
    CONFIRMATION = 13  # the user declined, or was not asked
    UNKNOWN_FIELD = 14


class GanetiError(Exception):
    """All that an edge may show to a user; an edge catches this one class.

    C{args} are what crosses the wire, so subclasses keep nothing else.
    """

    #: How a daemon ends that cannot start because of it.
    exit_code = ExitCode.FAILURE

    def __str__(self) -> str:
        return one_line(": ".join(str(arg) for arg in self.args)) or type(self).__name__

    def _arg(self, index: int, default: object = "") -> Any:
        """The argument at a place; another program may have sent fewer."""
        return self.args[index] if index < len(self.args) else default


class GenericError(GanetiError):
    """The root of Ganeti's own tree."""


class AddressPoolError(GenericError):
    """A network's pool of addresses cannot give, take or reserve what was asked."""


class BlockDeviceError(GenericError):
    """A block device could not be created, assembled, changed or removed."""


class CommandError(GenericError):
    """A command that was run on behalf of the cluster failed."""


class ConfdClientError(GenericError):
    """The confd client was used wrongly, or found no usable peer."""


class ConfdMagicError(GenericError):
    """A confd datagram does not start with the agreed magic."""


class ConfigurationError(GenericError):
    """The cluster configuration is missing, unreadable or wrong."""


class ConfigVerifyError(ConfigurationError):
    """The configuration contradicts itself; the second argument lists the faults."""

    def __init__(self, message: str, faults: Sequence[str] = ()) -> None:
        super().__init__(message, list(faults))

    def __str__(self) -> str:
        faults = self._arg(1, ())
        listed = "; ".join(map(str, faults)) if isinstance(faults, (list, tuple)) else faults
        return one_line(f"{self._arg(0)}: {listed}" if listed else self._arg(0))


class ConfigVersionMismatch(ConfigurationError):
    """The configuration is of another version than this program reads."""

    def __init__(self, expected: object, actual: object) -> None:
        super().__init__(expected, actual)

    def __str__(self) -> str:
        return one_line(f"configuration version mismatch: expected {self._arg(0)}, found {self._arg(1)}")


class DeviceCreationError(GenericError):
    """A disk was only partly created; the second argument lists what exists."""

    def __init__(self, message: str, created: Sequence[object] = ()) -> None:
        super().__init__(message, list(created))

    def __str__(self) -> str:
        return one_line(self._arg(0))


class FileStoragePathError(GenericError):
    """A path is not among those allowed for file storage."""


class HooksFailure(GenericError):
    """Hooks could not be run."""


class HooksAbort(HooksFailure):
    """A pre-hook vetoed the operation; the argument lists [node, script, output]."""

    def __init__(self, failed: Sequence[Sequence[str]]) -> None:
        super().__init__([list(hook) for hook in failed])

    def __str__(self) -> str:
        failed = self._arg(0, ())
        if not isinstance(failed, (list, tuple)):
            return one_line(failed)
        return one_line("; ".join(": ".join(map(str, h)) if isinstance(h, (list, tuple)) else str(h) for h in failed))


class HypervisorError(GenericError):
    """The hypervisor refused or failed."""


class HotplugError(HypervisorError):
    """A device could not be added to or taken from a running instance."""


class IPAddressError(GenericError):
    """An IP address or network is malformed or of the wrong family."""


class InotifyError(GenericError):
    """Watching files for changes failed."""


class JobCanceled(GenericError):
    """The job was cancelled while it waited."""


class JobFileCorrupted(GenericError):
    """A job file cannot be read as a job."""


class JobLost(GenericError):
    """The job is not in the queue and not in the archive."""


class JobQueueError(GenericError):
    """The job queue refused or failed."""


class JobQueueDrainError(JobQueueError):
    """The queue is drained and takes no jobs."""


class JobQueueFull(JobQueueError):
    """The queue holds as many jobs as it may."""

    def __init__(self) -> None:
        super().__init__()

    def __str__(self) -> str:
        return "the job queue is full: too many jobs wait or run; cancel some, or try again when some have ended"


class JobSubmittedException(GanetiError):
    """Not a fault: the job was submitted and nobody waits for it."""

    def __init__(self, job_id: int | Sequence[int]) -> None:
        super().__init__(job_id)

    def __str__(self) -> str:
        return one_line(f"submitted as job {self._arg(0)}")


class LockError(GenericError):
    """A lock request is illegal or cannot be granted."""


class LuxiError(GenericError):
    """A LUXI message is malformed, or the connection failed."""


class NoCtypesError(GenericError):
    """A system library call is not available."""


class OpCodeUnknown(GenericError):
    """The OP_ID names no opcode, or one that this version cannot do."""


class OpExecError(GenericError):
    """The operation was started and failed."""


class OpPrereqError(GenericError):
    """The operation was refused before it changed anything; the second argument says what kind of refusal."""

    def __init__(self, message: str, ecode: ECode) -> None:
        super().__init__(message, ecode)

    def __str__(self) -> str:
        return one_line(self._arg(0))

    @property
    def ecode(self) -> ECode:
        """The kind of refusal; what an unknown program sent without a known code counts as a fault of the program."""
        code = self._arg(1)
        return ECode(code) if isinstance(code, str) and code in ECode.__members__.values() else ECode.FAULT


class OpResultError(GenericError):
    """An opcode returned what its declaration does not allow."""


class OpRetryNotSupportedError(GenericError):
    """An opcode asked to be retried where that is not possible."""


class ParameterError(GenericError):
    """A parameter has an unusable value."""


class ParseError(GenericError):
    """Text from outside could not be parsed."""


class PidFileLockError(LockError):
    """Another process holds the pid file."""


class ProgrammerError(GenericError):
    """The program contradicts itself."""


class QueryFilterParseError(ParseError):
    """A query filter does not follow the grammar."""

    def __init__(self, message: str, cause: object = None) -> None:
        super().__init__(message, cause)

    def __str__(self) -> str:
        cause = self._arg(1, None)
        return one_line(f"{self._arg(0)}: {cause}" if cause else self._arg(0))


class QuitGanetiException(GanetiError):
    """Not a fault: the daemon that raises it sends the payload (true: as success) and exits."""

    def __init__(self, success: bool, payload: object) -> None:
        super().__init__(success, payload)

    def __str__(self) -> str:
        return one_line(f"daemon exits: {self._arg(1)}")


class RapiTestResult(GenericError):
    """A RAPI self-test ended."""


class RemoteError(GenericError):
    """A node answered a remote call with a failure."""


class ReservationError(GenericError):
    """A name, address or volume is already reserved by another job."""


class ResolverError(GenericError):
    """A host name could not be resolved."""

    def __init__(self, hostname: str, code: object, message: str) -> None:
        super().__init__(hostname, code, message)

    @property
    def reason(self) -> str:
        """Why, in the words of whoever was asked."""
        return one_line(str(self._arg(2)))

    def __str__(self) -> str:
        return one_line(f"cannot resolve {self._arg(0)!r}: {self.reason}")


class ResultValidationError(GenericError):
    """A result from outside does not have the declared shape."""


class SignatureError(GenericError):
    """A signed message fails its check."""


class SshUpdateError(GenericError):
    """SSH keys or files could not be updated."""


class StorageError(GenericError):
    """A storage unit could not be listed or changed."""


class TagError(GenericError):
    """A tag is malformed, or there are too many."""


class TypeEnforcementError(GenericError):
    """A parameter has a value of the wrong type."""


class UdpDataSizeError(GenericError):
    """A datagram would exceed the size that is sent."""


class UnitParseError(GenericError):
    """A size with a unit could not be parsed."""


class X509CertError(GenericError):
    """A certificate or its key is missing, malformed or expired."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(path, message)

    def __str__(self) -> str:
        return one_line(f"certificate {self._arg(0)}: {self._arg(1)}")


def one_line(text: object) -> str:
    """Any text on one line."""
    return " ".join(str(text).split())


def escaped_line_ends(text: str) -> str:
    """What a script said, its line ends shown as \\n."""
    return "\\n".join(text.splitlines())


def error_text(error: BaseException) -> str:
    """One clear line for a user; a foreign exception is named, since its text alone may say nothing."""
    if isinstance(error, GanetiError):
        return str(error) or type(error).__name__
    return one_line(f"{type(error).__name__}: {error}") if str(error) else type(error).__name__


def encode_error(error: BaseException) -> list[object]:
    """The wire form [class name, [arguments]]: the nearest class of the tree; a foreign exception is a GenericError."""
    for known in type(error).__mro__:
        if BY_NAME.get(known.__name__) is known:
            return [known.__name__, [plain(arg) for arg in error.args]]
    return [GenericError.__name__, [error_text(error)]]


def decode_error(raw: object) -> GanetiError:
    """The error that C{encode_error} wrote; what is no such thing becomes a GenericError. Never raises."""
    match raw:
        case [str(name), list(args) | tuple(args)]:
            known = BY_NAME.get(name)
            if known is not None:
                return known.__new__(known, *args)  # past __init__: another program may send other arguments
            return GenericError(one_line(f"{name}: {': '.join(str(arg) for arg in args)}"))
        case str():
            return GenericError(one_line(raw))
    return GenericError(one_line(f"not an error as [class name, [arguments]]: {raw!r}"))


def plain(value: object) -> object:
    """A value as JSON can carry it; what it cannot carry becomes text."""
    match value:
        case StrEnum():
            return value.value
        case None | bool() | int() | float() | str():
            return value
        case list() | tuple() | set() | frozenset():
            return [plain(item) for item in value]
        case dict():
            return {str(key): plain(item) for key, item in value.items()}
    return one_line(value)


BY_NAME: dict[str, type[GanetiError]] = {
    error.__name__: error
    for error in list(globals().values())
    if isinstance(error, type) and issubclass(error, GanetiError) and error is not GanetiError
}
