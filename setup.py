"""Packaging: the package, the twistd plugins, and a console script for every command."""

from itertools import groupby
from pathlib import Path

from setuptools import find_packages, setup

GNT = ["backup", "cluster", "debug", "filter", "group", "instance", "job", "network", "node", "os", "storage"]
DAEMONS = ["master", "luxid", "wconfd", "noded", "rapi", "confd", "mond", "metad"]


def shared_files() -> list[tuple[str, list[str]]]:
    """Everything below etc/, directory by directory, for PREFIX/share/ganeti_tx."""
    root = Path(__file__).parent
    files = sorted(path.relative_to(root) for path in (root / "etc").rglob("*") if path.is_file())
    return [
        (str("share/ganeti_tx" / directory.relative_to("etc")), [str(path) for path in paths])
        for directory, paths in groupby(sorted(files, key=lambda path: path.parent), key=lambda path: path.parent)
    ]


setup(
    name="ganeti_tx",
    version="0.1.0",
    description="A cluster manager for virtual machines: Ganeti, event-driven, on Twisted",
    long_description=Path(__file__).with_name("README.md").read_text(),
    long_description_content_type="text/markdown",
    license="BSD-2-Clause",
    license_files=["LICENSE"],
    python_requires=">=3.11",
    packages=[*find_packages(include=["ganeti_tx", "ganeti_tx.*"]), "twisted.plugins"],
    package_data={
        "ganeti_tx": ["py.typed"],
        "twisted": ["plugins/ganeti_tx_*.py"],
        "ganeti_tx.test": [
            "**/*.json",
            "**/*.jsonl",
            "**/*.c",
            "**/*.S",
            "**/*.ld",
            "**/*.txt",
            "**/*.stderr",
            "**/*.sh",
        ],
    },
    include_package_data=True,
    data_files=shared_files(),
    install_requires=[
        "Twisted[tls]>=24.7",
        "pyOpenSSL>=24",
        "service_identity>=24.1",
        "cryptography>=42",
        "txaio>=23.1",
        "klein>=24.8",
        "werkzeug>=3",
        "h11>=0.14",
        "ldap3>=2.9",
        "msgspec>=0.19",
        "attrs>=23.2",
        "zope.interface>=6",
        "prometheus_client>=0.20",
        "bcrypt>=4",
    ],
    extras_require={
        "test": [
            "hypothesis>=6.100",
            "PyYAML>=6",
            "mypy>=1.11",
            "mypy-zope>=1.0.5",
            "ruff>=0.6",
            "schemathesis>=4",
            "jsonschema-rs>=0.30",
            "openapi-python-client>=0.24",
            "gnt-monitoring",
        ],
    },
    entry_points={
        "console_scripts": [
            *[f"gnt-{noun} = ganeti_tx.cli.main:gnt_{noun}" for noun in GNT],
            "burnin = ganeti_tx.burnin.main:main",
            "cfgupgrade = ganeti_tx.upgrade.cfgupgrade:main",
            "move-instance = ganeti_tx.move_instance.main:main",
            "cluster-merge = ganeti_tx.merge.main:main",
            "ganeti-merge-step = ganeti_tx.merge.step_main:main",
            "ganeti-bootstrap = ganeti_tx.bootstrap.main:main",
            "ganeti-ensure-dirs = ganeti_tx.installation.ensure_dirs:main",
            "ganeti-complete = ganeti_tx.installation.completion.main:main",
            "ganeti-setup = ganeti_tx.installation.main:main",
            "ganeti-devcluster = ganeti_tx.devcluster.main:main",
            "ganeti-confd-client = ganeti_tx.confd.command:main",
            "confd-client = ganeti_tx.confd.command:main",
            "query-config = ganeti_tx.confd.query_config:main",
            "check-cert-expired = ganeti_tx.tools.check_cert_expired:main",
            "daemon-util = ganeti_tx.tools.daemon_util:main",
            "fmtjson = ganeti_tx.tools.fmtjson:main",
            "ganeti-listrunner = ganeti_tx.tools.listrunner.main:main",
            "node-cleanup = ganeti_tx.tools.node_cleanup:main",
            "post-upgrade = ganeti_tx.tools.post_upgrade:main",
            "sanitize-config = ganeti_tx.tools.sanitize.main:main",
            "users-setup = ganeti_tx.tools.users_setup:main",
            "ganeti-cleaner = ganeti_tx.watcher.cleaner:main",
            "ganeti-upgrade = ganeti_tx.upgrade.main:main",
            "ganeti-watcher = ganeti_tx.watcher.main:main",
            "ganeti-rapi-access = ganeti_tx.rapi.access.command:main",
            *[f"ganeti-{daemon} = ganeti_tx.daemons:{daemon}" for daemon in DAEMONS],
        ],
    },
    zip_safe=False,
)
