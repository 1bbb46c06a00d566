"""The program."""

import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

from ganeti_tx.errors import ExitCode, GanetiError
from ganeti_tx.move_instance.command_words import PROGRAM, Wanted, parser, read_words
from ganeti_tx.move_instance.move import Move, check_clusters
from ganeti_tx.move_instance.servers import server_of
from ganeti_tx.rapi_client import CertificateError, Client
from ganeti_tx.rapi_client.connect_errors import ADVICE


def main(arguments: Sequence[str] | None = None) -> int:
    """Move what the command line says; the exit status."""
    wanted = read_words(parser(), arguments)
    try:
        with ExitStack() as stack:
            source, destination = (
                stack.enter_context(Client(server_of(place))) for place in (wanted.source, wanted.destination)
            )
            check_clusters(source, destination, wanted)
            return move_all(source, destination, wanted)
    except CertificateError as error:
        advice = "its certificates, such as a copy of its rapi.pem, are given with --src-ca-file or --dest-ca-file"
        print(f"{PROGRAM}: {str(error).removesuffix(ADVICE)}; {advice}", file=sys.stderr)
    except GanetiError as error:
        print(f"{PROGRAM}: {error}", file=sys.stderr)
    except KeyboardInterrupt:
        print(f"{PROGRAM}: interrupted; the jobs that were submitted go on in both clusters", file=sys.stderr)
    return ExitCode.FAILURE


def move_all(source: Client, destination: Client, wanted: Wanted) -> int:
    """Some at a time; tells of each how it went."""
    with ThreadPoolExecutor(wanted.parallel) as pool:
        begun = [
            pool.submit(fault_of, Move(source, destination, wanted, name, teller(name, wanted)))
            for name in wanted.instances
        ]
        try:
            faults = [each.result() for each in begun]
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    for name, fault in zip(wanted.instances, faults, strict=True):
        print(f"{name}: {f'failed: {fault}' if fault else 'success'}")
    return ExitCode.FAILURE if any(faults) else ExitCode.SUCCESS


def fault_of(move: Move) -> str:
    """Why an instance was not moved; empty if it was."""
    try:
        move.run()
    except GanetiError as error:
        return str(error)
    except (KeyError, TypeError, ValueError) as error:
        return f"the Remote API tells what this program does not understand: {error!r}"
    return ""


def teller(name: str, wanted: Wanted) -> Callable[[str, int], None]:
    """What tells the steps of one instance, as far as that is wanted."""

    def tell(text: str, verbosity: int = 1) -> None:
        if verbosity <= wanted.verbosity:
            print(f"{name}: {text}", file=sys.stderr, flush=True)

    return tell


if __name__ == "__main__":
    sys.exit(main())
