"""Errors to what the operator sees on standard error, and to exit statuses (Ganeti 3.0 error table)."""

import importlib

from ganeti_tx.cli.parsing import UsageError
from ganeti_tx.cli.session import Session
from ganeti_tx.errors import (
    ConfigurationError,
    ExitCode,
    GanetiError,
    GenericError,
    HooksAbort,
    HooksFailure,
    HypervisorError,
    JobCanceled,
    JobLost,
    JobQueueDrainError,
    JobQueueFull,
    LuxiError,
    OpExecError,
    OpPrereqError,
    ParameterError,
    QueryFilterParseError,
    ResolverError,
    TypeEnforcementError,
    escaped_line_ends,
    one_line,
)

_PREFIXES: dict[type[GanetiError], str] = {
    ConfigurationError: "Corrupt configuration file",
    HooksFailure: "Failure: hooks could not be run",
    HypervisorError: "Hypervisor error",
    JobCanceled: "Job was canceled",
    JobLost: "Cannot follow the job",
    LuxiError: "Failure",
    ParameterError: "Failure: unknown or wrong parameter name",
    QueryFilterParseError: "Failure: query filter",
    ResolverError: "Failure",
    TypeEnforcementError: "Parameter Error",
}


class Declined(Exception):
    """The operator said no, or nobody could be asked; the text, if any, says what is needed.

    @ivar status: how the command ends.
    """

    def __init__(self, text: str, status: ExitCode = ExitCode.FAILURE) -> None:
        super().__init__(text)
        self.status = status


def describe(error: Exception) -> tuple[ExitCode, str]:
    """The exit status and the text of an error that a command ended with."""
    match error:
        case UsageError():
            return error.status, f"Failure: {error}"
        case Declined():
            return error.status, str(error)
        case ConfigurationError():
            return ExitCode.CONFIGURATION, _prefixed(error)
        case GanetiError():
            return ExitCode.FAILURE, _ganeti(error)
    return ExitCode.FAILURE, f"Failure: {one_line(error)}"


def warn_of(session: Session, what: str, error: GanetiError) -> None:
    """Tell of an error with which something else than the command itself ended, and what may have been meant."""
    text = f"{what}: {describe(error)[1]}"
    session.warn(text)
    if more := suggestion(session, text):
        session.warn(more)


def suggestion(session: Session, text: str) -> str:
    """What may have been meant where an error speaks of what is not there; read when there is an error only."""
    return str(importlib.import_module("ganeti_tx.cli.hints").hint(session, text))


def _ganeti(error: GanetiError) -> str:
    match error:
        case OpPrereqError():
            message, code = error.args[0] if error.args else "", error.ecode.value
            return (
                "Failure: prerequisites not met for this operation:\n"
                f"error type: {code}, error details:\n{str(message).rstrip()}"
            )
        case OpExecError():
            return f"Failure: command execution error:\n{_message(error)}"
        case HooksAbort():
            return "Failure: hooks execution failed:\n" + "\n".join(_hook_lines(error))
        case JobQueueDrainError():
            return "Failure: the job queue is drained and takes no new jobs ('gnt-cluster queue undrain' opens it)"
        case JobQueueFull():
            return f"Failure: {error}"
    return _prefixed(error)


def _prefixed(error: GanetiError) -> str:
    for kind, prefix in _PREFIXES.items():
        if isinstance(error, kind):
            return f"{prefix}: {error}"
    if type(error) is GenericError:
        return f"Unhandled Ganeti error: {error}"
    return f"Failure: {type(error).__name__}: {error}"


def _message(error: GanetiError) -> str:
    """The text with its own lines, which may be the output of a program."""
    return "\n".join(str(argument).rstrip() for argument in error.args)


def _hook_lines(error: HooksAbort) -> list[str]:
    failed = error.args[0] if error.args else []
    if not isinstance(failed, list):
        return [str(failed)]
    return [f"  {_hook_line(hook)}" for hook in failed]


def _hook_line(hook: object) -> str:
    match hook:
        case [node, script, output]:
            return f"node: {node}, script: {script}, output: {escaped_line_ends(str(output)) or '(no output)'}"
    return one_line(hook)
