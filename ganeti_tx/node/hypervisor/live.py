"""What is refused alike by all hypervisors that change what runs."""

from ganeti_tx.errors import HypervisorError

#: Of one that is on its way to another node: why it does not go on.
SHUT_DOWN, ENDED = "its guest has shut down", "it does not run any more"


def not_running(instance_name: str) -> HypervisorError:
    """That there is nothing to change."""
    return HypervisorError(f"instance {instance_name} does not run")


def check_balloon(instance_name: str, memory: int, at_start: int) -> None:
    """@raise HypervisorError: no machine has so little memory, or this one was started with less; both in MiB."""
    if not 0 < memory <= at_start:
        raise HypervisorError(
            f"instance {instance_name} cannot have {memory} MiB while it runs: it was started with {at_start} MiB,"
            " and can have less; change maxmem and restart it for more"
        )
