"""Command lines of drbdsetup and drbdmeta for DRBD 8.4 (drbdsetup(8), drbdmeta(8))."""

from collections.abc import Sequence

from ganeti_tx.errors import BlockDeviceError
from ganeti_tx.model.disk_templates.drbd import DrbdParams
from ganeti_tx.model.host_port import host_port
from ganeti_tx.model.ip_family import family_of, version_of
from ganeti_tx.node.storage.drbd.mirror import End, Mirror
from ganeti_tx.node.storage.drbd.net_options import SECRET, custom, split_words

SETUP = "drbdsetup"
#: What each letter of "disk-barriers" switches off.
BARRIERS = {"b": "--disk-barrier=no", "f": "--disk-flushes=no", "d": "--disk-drain=no"}
NO_BARRIER_LESS = "n"
HMAC = "md5"


def proc_argv() -> list[str]:
    """The module's version and the state of all minors."""
    return ["cat", "/proc/drbd"]


def helper_argv() -> list[str]:
    """The program that the module calls."""
    return ["cat", "/sys/module/drbd/parameters/usermode_helper"]


def show_argv() -> list[str]:
    """How all devices are set up."""
    return [SETUP, "show"]


def status_argv(mirror: Mirror) -> list[str]:
    """How one is."""
    return [SETUP, "status", mirror.resource, "--verbose", "--statistics"]


def generations_argv(mirror: Mirror) -> list[str]:
    """Which data are here."""
    return [SETUP, "get-gi", str(mirror.minor)]


def new_resource_argv(mirror: Mirror) -> list[str]:
    """Nothing but its name."""
    return [SETUP, "new-resource", mirror.resource]


def new_minor_argv(mirror: Mirror) -> list[str]:
    """A device without disk and without connection."""
    return [SETUP, "new-minor", mirror.resource, str(mirror.minor), "0"]


def attach_argv(mirror: Mirror, data: str, meta: str, size: int) -> list[str]:
    """Give it its own part; `size` is MiB."""
    return [
        SETUP, "attach", str(mirror.minor), data, meta, "0", "--on-io-error=detach", f"--size={size}m",
        *barrier_options(mirror.params), *resync_options(mirror.params),
        *split_words("disk-custom", mirror.params.disk_custom),
    ]  # fmt: skip


def disk_options_argv(mirror: Mirror) -> list[str]:
    """Let it synchronise as its parameters say now."""
    return [SETUP, "disk-options", str(mirror.minor), *resync_options(mirror.params)]


def barrier_options(params: DrbdParams) -> list[str]:
    """@raise BlockDeviceError: a letter is none."""
    letters = "" if params.disk_barriers == NO_BARRIER_LESS else params.disk_barriers
    if unknown := set(letters) - set(BARRIERS):
        raise BlockDeviceError(f"disk-barriers is {NO_BARRIER_LESS!r} or letters of 'bfd', not {sorted(unknown)[0]!r}")
    return [BARRIERS[letter] for letter in sorted(set(letters))] + ["--md-flushes=no"] * params.meta_barriers


def resync_options(params: DrbdParams) -> list[str]:
    """A fixed rate, or the controller. @raise BlockDeviceError: the controller is asked for and switched off."""
    if not params.dynamic_resync:
        return [f"--resync-rate={params.resync_rate}k", "--c-plan-ahead=0"]
    if params.c_plan_ahead == 0:
        raise BlockDeviceError("dynamic-resync needs a c-plan-ahead that is not 0")
    return [
        f"--c-plan-ahead={params.c_plan_ahead}",
        f"--c-delay-target={params.c_delay_target}",
        f"--c-fill-target={params.c_fill_target}s",
        f"--c-max-rate={params.c_max_rate}k",
        f"--c-min-rate={params.c_min_rate}k",
    ]


def net_options(mirror: Mirror, secret: str, both_primary: bool) -> dict[str, str]:
    """Of its connection; with both sides primary nothing but protocol C will do."""
    return {
        "protocol": "C" if both_primary else mirror.params.protocol,
        "allow-two-primaries": "yes" if both_primary else "no",
        "after-sb-0pri": "discard-zero-changes",
        "after-sb-1pri": "consensus",
        "cram-hmac-alg": HMAC,
        SECRET: secret,
        **custom(mirror.params.net_custom),
    }


def two_primaries_argv(mirror: Mirror, allowed: bool) -> list[str]:
    """Change that of a connection that is there."""
    ends = [_address(mirror.local), _address(mirror.peer)]
    if allowed:
        return [SETUP, "net-options", *ends, "--protocol=C", "--allow-two-primaries=yes"]
    return [SETUP, "net-options", *ends, f"--protocol={mirror.params.protocol}", "--allow-two-primaries=no"]


def disconnect_argv(local: End, peer: End) -> list[str]:
    """Part the sides."""
    return [SETUP, "disconnect", _address(local), _address(peer)]


def primary_argv(mirror: Mirror, force: bool = False) -> list[str]:
    """With `force` its data are declared to be the good ones."""
    return [SETUP, "primary", str(mirror.minor), *(["--force"] if force else [])]


def secondary_argv(minor: int) -> list[str]:
    """Nobody may write any more."""
    return [SETUP, "secondary", str(minor)]


def detach_argv(mirror: Mirror) -> list[str]:
    """Take its own part away."""
    return [SETUP, "detach", str(mirror.minor)]


def resize_argv(mirror: Mirror, size: int) -> list[str]:
    """To so many MiB."""
    return [SETUP, "resize", str(mirror.minor), f"--size={size}m"]


def pause_argv(mirror: Mirror, pause: bool) -> list[str]:
    """Hold the synchronisation up, or let it go on."""
    return [SETUP, "pause-sync" if pause else "resume-sync", str(mirror.minor)]


def down_argv(resource: str) -> list[str]:
    """Nothing of it is left."""
    return [SETUP, "down", resource]


def wipe_argv(path: str, size: int) -> list[str]:
    """Overwrite so many MiB with zeros."""
    return ["dd", "if=/dev/zero", f"of={path}", "bs=1M", f"count={size}", "oflag=direct", "conv=fsync", "status=none"]


def metadata_argv(mirror: Mirror, meta: str, words: Sequence[str]) -> list[str]:
    """Do something with its metadata, which are not in use."""
    return ["drbdmeta", "--force", mirror.path, "v08", meta, "0", *words]


def _address(end: End) -> str:
    address, port = end
    return f"ipv{version_of(family_of(address))}:{host_port(address, port)}"
