"""A change of the configuration that was not made only because the disk did not take it."""

from ganeti_tx.errors import ConfigurationError

NOT_WRITTEN = "the change was not made: cannot write"


def not_written(why: str) -> ConfigurationError:
    """What who wanted it is told."""
    return ConfigurationError(f"{NOT_WRITTEN} {why}")


def was_not_written(error: ConfigurationError) -> bool:
    """Whether the same change may succeed when the disk is well."""
    return str(error).startswith(NOT_WRITTEN)
