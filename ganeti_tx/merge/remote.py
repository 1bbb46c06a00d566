"""Having a node of the other cluster do a step."""

import subprocess
import tempfile
from collections.abc import Sequence
from typing import TypeVar

import msgspec

from ganeti_tx.bootstrap.problems import BootstrapError
from ganeti_tx.bootstrap.remote_program import NO_COMMAND, missing, remote_words
from ganeti_tx.merge.steps import PROGRAM
from ganeti_tx.model.base import Wire
from ganeti_tx.model.config_data import MAX_CONFIG_BYTES
from ganeti_tx.model.printable import printable_lines

Answer = TypeVar("Answer", bound=Wire)

#: Seconds for a step; those that wait for instances and jobs have more, and the first one for a password to be typed.
LIMIT = 600.0
LONG_LIMIT = 40 * 3600.0
LONG = frozenset({"stop-instances", "start-instances", "drain"})
#: A configuration travels as text that is a third longer.
MAX_ANSWER = 2 * MAX_CONFIG_BYTES
MAX_SAID = 64 * 1024


class StepFailed(BootstrapError):
    """What a node did not do, and why, a line each."""


def run_step(shell: Sequence[str], step: str, asked: Wire, gives: type[Answer]) -> Answer:
    """Its answer. @param shell: ssh with the host as its last word.

    @raise StepFailed: a line for each problem, with the host.
    """
    host = shell[-1]
    limit = LONG_LIMIT if step in LONG else LIMIT
    with tempfile.TemporaryFile() as said:
        try:
            done = subprocess.run(
                [*shell, *remote_words(PROGRAM, step)],
                input=msgspec.json.encode(asked),
                stdout=said,
                stderr=subprocess.PIPE,
                timeout=limit,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise StepFailed(f"{host}: {PROGRAM} {step} did not end within {limit:.0f} s") from None
        except OSError as error:
            raise StepFailed(f"cannot run {shell[0]}: {error.strerror}") from None
        said.seek(0)
        answer = said.read(MAX_ANSWER)
    words = printable_lines(done.stderr[-MAX_SAID:].strip())
    if done.returncode == NO_COMMAND:
        raise StepFailed(str(missing(host, PROGRAM)))
    if done.returncode != 0:
        raise StepFailed(*(f"{host}: {line}" for line in words or [f"status {done.returncode}"]))
    try:
        return msgspec.json.decode(answer, type=gives)
    except msgspec.DecodeError as error:
        raise StepFailed(f"{host}: {PROGRAM} {step} answers what cannot be read: {error}") from None
