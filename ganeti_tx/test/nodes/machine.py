"""What this machine must have so that nodes can live on it, and what they are kept from."""

import os
import subprocess
import tempfile
from pathlib import Path
from shutil import which

PROGRAMS = {
    "unshare": "util-linux",
    "nsenter": "util-linux",
    "setpriv": "util-linux",
    "ip": "iproute2",
    "apt-get": "apt",
}
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
#: Nothing that is started for a node may set the clock: it is the machine's own.
NO_CLOCK = ("setpriv", "--bounding-set", "-sys_time", "--inh-caps", "-sys_time", "--")
PROBE = "mkdir low up work over && mount -t overlay overlay -o lowerdir=low,upperdir=up,workdir=work over"


def control_groups() -> Path | None:
    """Where this machine has control groups of version 2, which all nodes' processes live in."""
    for line in Path("/proc/mounts").read_text().splitlines():
        _, place, kind, *_ = line.split()
        if kind == "cgroup2" and (Path(place) / "cgroup.procs").exists():
            return Path(place)
    return None


def can_end_group(groups: Path) -> bool:
    """Whether groups can be made, and ended at once."""
    probe = groups / f"ganeti-nodes-probe-{os.getpid()}"
    try:
        probe.mkdir()
    except OSError:
        return False
    try:
        return (probe / "cgroup.kill").exists()
    finally:
        probe.rmdir()


def missing(directory: Path) -> str | None:
    """Why there can be no nodes with their files in a directory; None when there can."""
    if os.geteuid() != 0:
        return "nodes with systemd need root"
    for program, package in PROGRAMS.items():
        if which(program, path=PATH) is None:
            return f"nodes with systemd need {program} (Debian: {package})"
    groups = control_groups()
    if groups is None:
        return "nodes with systemd need cgroup2, which is not mounted"
    if not can_end_group(groups):
        return f"nodes with systemd need control groups below {groups} that can be ended (Linux 5.14 or later)"
    directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    with tempfile.TemporaryDirectory(prefix="probe-", dir=directory) as probe:
        done = subprocess.run(
            [*NO_CLOCK, "unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "sh", "-c", PROBE],
            cwd=probe,
            capture_output=True,
            text=True,
            check=False,
        )
    return None if done.returncode == 0 else f"nodes with systemd need namespaces and overlays: {done.stderr.strip()}"
