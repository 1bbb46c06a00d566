"""The files that a node has of its cluster: where, whose, who has them, and how they come and go. All else reads them here.

Modes and owners are those of the Ganeti 3.0 configuration table ("path_modes") where it names the file; the others are
this program's own.
"""

from enum import StrEnum
from fnmatch import fnmatchcase
from typing import NamedTuple

DATA = "/var/lib/ganeti"


class Holder(StrEnum):
    """Which nodes have a file; one that ceases to be such a node removes it."""

    NODES = "every node"
    CANDIDATES = "master candidates"
    MASTER = "the master"


class Sending(StrEnum):
    """How the master brings a file to the nodes that have it."""

    NEVER = "never"
    WITH_KEYS = "with the other keys, by redist-conf and when the node is back"
    WHEN_CHANGED = "at each change, with its serial number"
    AS_A_WHOLE = "together with others, by a call of their own"
    BY_HAND = "when the administrator wants it"


#: Those that a node takes one by one.
UPLOADED = frozenset({Sending.WITH_KEYS, Sending.WHEN_CHANGED, Sending.BY_HAND})


class NodeFile(NamedTuple):
    """One file, or a family of them (with a * in its name).

    @param path: on a node whose root is "/". @param owner: the part that it belongs to, as in `path_modes.USERS`.
    @param secret: nobody but the owner and the group reads it. @param at_join: written when the node joins.
    @param of_cluster: gone when the node has left; else the administrator's, who owns it.
    """

    path: str
    mode: int
    owner: str = "masterd"
    group: str = "masterd"
    held_by: Holder = Holder.NODES
    secret: bool = False
    at_join: bool = False
    sent: Sending = Sending.NEVER
    of_cluster: bool = True

    @property
    def is_family(self) -> bool:
        """Whether it stands for all files with such a name."""
        return "*" in self.path

    @property
    def pattern(self) -> str:
        """Its name, or that of a family."""
        return self.path.rpartition("/")[2]

    def is_for(self, *, candidate: bool) -> bool:
        """Whether a node has it that is, or is not, a master candidate."""
        return self.held_by is Holder.NODES or (self.held_by is Holder.CANDIDATES and candidate)

    def is_at(self, path: str) -> bool:
        """Whether a path of a node with the root "/" is this file, or one of the family."""
        return fnmatchcase(path, self.path) and path.count("/") == self.path.count("/")


CONFIG = NodeFile(
    f"{DATA}/config.data", 0o640, group="confd", held_by=Holder.CANDIDATES, secret=True, sent=Sending.WHEN_CHANGED
)
#: What was there before a configuration of an older version, and the keys beside it, were brought to the present one.
FORMER = NodeFile(f"{DATA}/*.backup-*", 0o600, held_by=Holder.CANDIDATES, secret=True)
MASTER_TERM = NodeFile(f"{DATA}/master-term", 0o600)
LOCKS = NodeFile(f"{DATA}/locks.data", 0o600, held_by=Holder.MASTER)
TEMPORARY_RESERVATIONS = NodeFile(f"{DATA}/tempres.data", 0o600, held_by=Holder.MASTER)
SSCONF = NodeFile(f"{DATA}/ssconf_*", 0o444, "noded", "noded", at_join=True, sent=Sending.AS_A_WHOLE)
JOINING = NodeFile(f"{DATA}/joining-*", 0o644, "noded", "noded", held_by=Holder.MASTER)
#: Of an upgrade that is under way.
INTENT_TO_UPGRADE = NodeFile(f"{DATA}/intent-to-upgrade", 0o600, "noded", "noded", held_by=Holder.MASTER)
#: Until when the watcher leaves the cluster alone, and what it remembers of each node group and its instances.
WATCHER_PAUSE = NodeFile(f"{DATA}/watcher.pause", 0o644)
WATCHER_STATE = NodeFile(f"{DATA}/watcher.*.data", 0o600, "noded", "noded")
WATCHER_INSTANCES = NodeFile(f"{DATA}/watcher.*.instance-status", 0o644, "noded", "noded")
INSTANCE_STATUS = NodeFile("/var/run/ganeti/instance-status", 0o644, "noded", "noded")
KNOWN_HOSTS = NodeFile(f"{DATA}/known_hosts", 0o644, sent=Sending.AS_A_WHOLE)

RAPI_LDAP = NodeFile(f"{DATA}/rapi/ldap", 0o640, "rapi", secret=True, sent=Sending.AS_A_WHOLE)
RAPI_ROLES = NodeFile(f"{DATA}/rapi/roles", 0o640, "rapi", secret=True, sent=Sending.AS_A_WHOLE)
RAPI_TOKENS = NodeFile(f"{DATA}/rapi/tokens", 0o640, "rapi", secret=True, sent=Sending.AS_A_WHOLE)
RAPI_USERS = NodeFile(f"{DATA}/rapi/users", 0o640, "rapi", secret=True, sent=Sending.AS_A_WHOLE)
#: Beside the directory, which may be replaced as a whole. A digest of clear passwords lets somebody guess them.
RAPI_RECORD = NodeFile(f"{DATA}/rapi-files.digest", 0o600, secret=True)

# Keys, in the order in which they are written: the last one makes a node a member. They go in the same order.
HMAC_KEY = NodeFile(f"{DATA}/hmac.key", 0o440, "confd", secret=True, at_join=True, sent=Sending.WITH_KEYS)
#: The keys that configuration daemons accept while the one is replaced.
CONFD_KEYS = NodeFile(f"{DATA}/hmac-accepted", 0o440, "confd", secret=True, sent=Sending.WITH_KEYS)
DOMAIN_SECRET = NodeFile(f"{DATA}/cluster-domain-secret", 0o640, secret=True, at_join=True, sent=Sending.WITH_KEYS)
RAPI_CERTIFICATE = NodeFile(f"{DATA}/rapi.pem", 0o440, "rapi", secret=True, sent=Sending.WITH_KEYS)
SPICE_CERTIFICATE = NodeFile(f"{DATA}/spice.pem", 0o440, "noded", secret=True, sent=Sending.WITH_KEYS)
SPICE_AUTHORITY = NodeFile(f"{DATA}/spice-ca.pem", 0o440, "noded", sent=Sending.WITH_KEYS)
#: Without it a new master could add no node.
AUTHORITY_KEY = NodeFile(f"{DATA}/ca.key", 0o400, held_by=Holder.CANDIDATES, secret=True, sent=Sending.WITH_KEYS)
#: The authority that takes the place of the present one, with its key, until it has.
NEXT_AUTHORITY = NodeFile(f"{DATA}/ca-next.pem", 0o400, held_by=Holder.MASTER, secret=True)
CLIENT_CERTIFICATE = NodeFile(f"{DATA}/client.pem", 0o440, secret=True, at_join=True)
#: Whom nodes trust; two while a new authority takes the place of the former one.
AUTHORITY = NodeFile(f"{DATA}/ca.pem", 0o444, at_join=True, sent=Sending.WITH_KEYS)
SERVER_CERTIFICATE = NodeFile(f"{DATA}/server.pem", 0o440, secret=True, at_join=True)

FILE_STORAGE_PATHS = NodeFile("/etc/ganeti/file-storage-paths", 0o644, sent=Sending.BY_HAND, of_cluster=False)
#: The administrator's list of further files that all nodes shall have as the master has them; see `listed_files`.
DISTRIBUTED_FILES = NodeFile("/etc/ganeti/distributed-files", 0o644, sent=Sending.WITH_KEYS, of_cluster=False)

#: All of them, in the order in which a node that leaves removes them: its own key last.
FILES = tuple(each for each in list(vars().values()) if isinstance(each, NodeFile))
#: Those that are the same wherever they are, as the master sends them one by one.
ALIKE = tuple(file for file in FILES if file.sent is Sending.WITH_KEYS)
#: What cluster verification compares: these, and who may use the Remote API. What the administrator copies may differ: nodes may
#: have file storage in different places.
COMPARED = (*ALIKE, RAPI_LDAP, RAPI_ROLES, RAPI_TOKENS, RAPI_USERS)
