"""What an upgrade that is under way keeps on the master, so that it can be gone on with after whatever broke it off."""

from collections.abc import Mapping

import msgspec

from ganeti_tx.errors import GanetiError
from ganeti_tx.model.node_files import INTENT_TO_UPGRADE
from ganeti_tx.runtime.files_replace import replace_file
from ganeti_tx.runtime.paths import Paths


class Intent(msgspec.Struct, frozen=True, kw_only=True):
    """From which version to which. `directory`: where the latter is, on every node. `was_drained`: before, by somebody else.

    `daemons`: what is to run, by node, as it was at the beginning.
    """

    version: str
    former: str
    directory: str
    was_drained: bool
    daemons: Mapping[str, tuple[str, ...]]


def read_intent(paths: Paths) -> Intent | None:
    """None when none is under way. @raise GanetiError: the file cannot be read."""
    try:
        return msgspec.json.decode(paths.intent_to_upgrade.read_bytes(), type=Intent)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.DecodeError) as error:
        raise GanetiError(f"cannot read {paths.intent_to_upgrade}: {error}; remove it to begin anew") from None


def write_intent(paths: Paths, intent: Intent) -> None:
    """@raise OSError: as IFiles.write_atomic."""
    replace_file(paths.intent_to_upgrade, msgspec.json.encode(intent), INTENT_TO_UPGRADE.mode)


def drop_intent(paths: Paths) -> None:
    """All is done."""
    paths.intent_to_upgrade.unlink(missing_ok=True)
