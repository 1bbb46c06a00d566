"""What differs of instances: their exports, and how they move."""

from ganeti_tx.test.inprocess.recorded_programs.kinds.difference import Difference, dropping, in_order

OF_INSTANCES = (
    Difference(
        "exports",
        "A node on which nothing was ever exported has no exports.",
        dropping(r"^\S+ +\?$|^\?\?$|Failed to query node .*: No exports directory"),
    ),
    Difference(
        "flow", "That data of a disk flows is always told.", dropping(r"disk/\d+ is (?:receiving|sending) data on")
    ),
    Difference("ends", "Which end of a transfer is heard of first is left to chance.", in_order),
    Difference("finalized", "Disks are deactivated before an export is finalized.", in_order),
    Difference(
        "imported",
        "An import without a template has that of the export, and its disks.",
        dropping(
            r" \* disk \d|OS import scripts|Exporting disk/|disk/\d+ |Running rename script|to sync disks|disks are in sync"
        ),
    ),
    Difference("uuid", "The uuid of a new instance is told.", dropping(r"INFO: Instance \S+ has UUID")),
    Difference(
        "transfer",
        "How long a migration took, and how long the guest stood still, is told.",
        dropping(r"\* total time "),
    ),
)
