"""Bringing a devcluster up, with the same commands that an administrator types."""

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ganeti_tx.devcluster.error import DevclusterError
from ganeti_tx.devcluster.layout import STATE_FILE, DevNode, Layout, load, plan
from ganeti_tx.devcluster.own_addresses import give_up, take
from ganeti_tx.devcluster.processes import end_all
from ganeti_tx.devcluster.running import missing_daemons
from ganeti_tx.devcluster.supervising import start_supervisor
from ganeti_tx.devcluster.trust import allow_nobody_else_to_write, check_trusted
from ganeti_tx.model.host_port import host_port
from ganeti_tx.model.ip_family import family_of, version_of
from ganeti_tx.model.node_port import NODE_PORT
from ganeti_tx.runtime.daemon_names import NODE
from ganeti_tx.runtime.shipped import shipped

CONFIG = "var/lib/ganeti/config.data"
QUERY_SOCKET = "var/run/ganeti/socket/ganeti-query"
#: Seconds that one command may take.
COMMAND_LIMIT = 180
#: Seconds that a daemon may take until it answers.
START_LIMIT = 30
#: Daemons that are started at a time for each core: a start is half work, half waiting.
STARTS_PER_CORE = 2


def up(root: Path, count: int, options: Sequence[str], supervised: bool = False, ip_version: int = 4) -> Layout:
    """A running cluster of `count` nodes; one that runs already is left as it is.

    @param options: further options of `gnt-cluster init`.
    @param supervised: daemons that die are started again.
    @param ip_version: of the nodes' primary addresses, 4 or 6.
    @raise DevclusterError: with the failed command's own words.
    """
    layout = brought_up(root.absolute(), count, options, ip_version)
    if supervised:
        start_supervisor(layout)
    return layout


def brought_up(root: Path, count: int, options: Sequence[str], ip_version: int) -> Layout:
    """The same without a supervisor."""
    if (root / STATE_FILE).exists():
        layout = load(root)
        if not (layout.master.root / CONFIG).exists():
            raise DevclusterError(f"the cluster in {root} was never finished; 'ganeti-devcluster down' removes it")
        take(layout)
        start_daemons(layout)
        return layout
    layout = plan(root, count, ip_version)
    try:
        take(layout)
        check_free(layout)
        prepare(layout)
    except BaseException:
        give_up(layout)
        raise
    try:
        run(layout.master, ["gnt-cluster", "init", *init_options(layout, options), layout.cluster_name])
        for node in layout.nodes[1:]:
            run(layout.master, ["gnt-node", "add", *node.secondary_options, node.name])
    except DevclusterError:
        end_all(root)
        raise
    return layout


def check_free(layout: Layout) -> None:
    """@raise DevclusterError: somebody listens on one of the addresses, or the directory holds something else."""
    if layout.root.exists() and any(layout.root.iterdir()):
        raise DevclusterError(f"{layout.root} is not empty and holds no devcluster; remove it or give --root")
    for node in layout.nodes:
        with socket.socket(family_of(node.address)) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((node.address, NODE_PORT))
            except OSError as error:
                raise DevclusterError(
                    f"cannot use {host_port(node.address, NODE_PORT)}: {error.strerror}; give another --root"
                )


def prepare(layout: Layout) -> None:
    """Make the directories, the names and what a node's administrator would write.

    @raise DevclusterError: others could do so, too.
    """
    check_trusted(layout.root)
    allow_nobody_else_to_write()
    layout.root.mkdir(mode=0o755, parents=True, exist_ok=True)
    check_trusted(layout.root)
    hosts = "".join(f"{node.address} {node.name} {node.name.split('.')[0]}\n" for node in layout.nodes)
    hosts += f"{layout.master_address} {layout.cluster_name}\n"
    for node in layout.nodes:
        for directory in ("etc/ganeti", "srv/ganeti/os", "srv/ganeti/file-storage", "srv/ganeti/shared-file-storage"):
            (node.root / directory).mkdir(parents=True, exist_ok=True)
        (node.root / "etc/hosts").write_text(hosts)
        storage = node.root / "srv/ganeti"
        (node.root / "etc/ganeti/file-storage-paths").write_text(
            f"{storage / 'file-storage'}\n{layout.root / 'shared'}\n"
        )
        (node.root / "etc/ganeti/user-mode-network").write_text("")
        for definition in os_definitions():
            (node.root / "srv/ganeti/os" / definition.name).symlink_to(definition)
    (layout.root / "shared").mkdir(exist_ok=True)
    layout.save()


def os_definitions() -> list[Path]:
    """The OS definitions of this program."""
    directory = shipped("os")
    return sorted(path for path in directory.iterdir() if path.is_dir()) if directory.is_dir() else []


def init_options(layout: Layout, options: Sequence[str]) -> list[str]:
    """Options of `gnt-cluster init` that suit one machine; those given come last and win."""
    kvm = shutil.which("qemu-system-x86_64") is not None
    return [
        "--enabled-hypervisors=" + ("kvm,fake" if kvm else "fake"),
        "--enabled-disk-templates=file,sharedfile,diskless",
        f"--file-storage-dir={layout.master.root / 'srv/ganeti/file-storage'}"
        if len(layout.nodes) == 1
        else f"--file-storage-dir={layout.root / 'shared' / 'file'}",
        f"--shared-file-storage-dir={layout.root / 'shared'}",
        f"--gluster-storage-dir={layout.root / 'shared' / 'gluster'}",
        "--master-netdev=lo",
        "--no-ssh-init",
        "--no-etc-hosts",
        f"--primary-ip-version={version_of(family_of(layout.master_address))}",
        *layout.nodes[0].secondary_options,
        *options,
    ]


def run(node: DevNode, argv: Sequence[str]) -> str:
    """Run one of our commands as on a node; its output. @raise DevclusterError: it failed."""
    program = Path(sys.executable).parent / argv[0]
    command = [str(program), *argv[1:]] if program.exists() else list(argv)
    try:
        done = subprocess.run(
            command,
            env=node.environment(os.environ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=COMMAND_LIMIT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise DevclusterError(f"{' '.join(argv[:2])} did not end within {COMMAND_LIMIT} s")
    except OSError as error:
        raise DevclusterError(f"cannot run {argv[0]}: {error.strerror}")
    if done.returncode != 0:
        raise DevclusterError(f"{' '.join(argv[:2])} failed:\n{done.stdout.strip()}")
    return done.stdout


def start_daemons(layout: Layout) -> None:
    """Start what does not run: the node daemons, then those that ask the nodes whether they may run, and the rest."""
    missing = missing_daemons(layout)
    start_beside({node: [daemon for daemon in daemons if daemon == NODE] for node, daemons in missing.items()})
    for node in layout.nodes:
        wait_until(family_of(node.address), (node.address, NODE_PORT), f"ganeti-noded of {node.name}", node)
    start_beside({node: [daemon for daemon in daemons if daemon != NODE] for node, daemons in missing.items()})
    wait_until(socket.AF_UNIX, str(layout.master.root / QUERY_SOCKET), "ganeti-master", layout.master)


def start_beside(daemons: Mapping[DevNode, Sequence[str]]) -> None:
    """Start each node's daemons in their order, several nodes at a time. @raise DevclusterError: one did not start."""

    def start(node: DevNode) -> None:
        for daemon in daemons[node]:
            run(node, [daemon])

    with ThreadPoolExecutor(STARTS_PER_CORE * (os.cpu_count() or 1)) as pool:
        list(pool.map(start, daemons))


def wait_until(family: socket.AddressFamily, address: tuple[str, int] | str, what: str, node: DevNode) -> None:
    """Wait until somebody answers. @raise DevclusterError: nobody does."""
    deadline = time.monotonic() + START_LIMIT
    while True:
        with socket.socket(family) as probe:
            probe.settimeout(1)
            if probe.connect_ex(address) == 0:
                return
        if time.monotonic() > deadline:
            logs = node.root / "var/log/ganeti"
            raise DevclusterError(f"{what} does not answer within {START_LIMIT} s; see {logs}")
        time.sleep(0.02)
