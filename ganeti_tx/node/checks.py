"""What a node looks at when the cluster is verified: each check is a function of the check's own argument."""

from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from attrs import define
from twisted.internet.defer import Deferred
from twisted.logger import Logger

from ganeti_tx.errors import BlockDeviceError, FileStoragePathError, GanetiError, HypervisorError, error_text
from ganeti_tx.model.disk_templates import TEMPLATES
from ganeti_tx.model.enums import StorageType
from ganeti_tx.model.exclusive_storage import PHYSICAL_VOLUMES
from ganeti_tx.model.ip_family import family_of
from ganeti_tx.model.node_files import AUTHORITY, CLIENT_CERTIFICATE, RAPI_CERTIFICATE, SERVER_CERTIFICATE
from ganeti_tx.model.storage_unit import VOLUME_GROUP
from ganeti_tx.node.answers import answers
from ganeti_tx.node.facts import missing_bridges, missing_interfaces
from ganeti_tx.node.hypervisor.interfaces import IHypervisor, IKeepsFirmware
from ganeti_tx.node.machine_formats import machine_formats
from ganeti_tx.node.own_faults import OWN_FAULTS, told_to_caller
from ganeti_tx.node.path_checks import PathChecks
from ganeti_tx.node.ssh_checks import SshChecks
from ganeti_tx.node.storage.abilities import IExisting, IMirrorModule, MirrorModule
from ganeti_tx.node.storage.ext.provider import Providers
from ganeti_tx.node.storage.file.allowed_paths import AllowedPaths
from ganeti_tx.node.storage.kinds import NodeStorage
from ganeti_tx.node.storage.pool_abilities import IUnits
from ganeti_tx.rpc.calls.check_answers import FAILED, CheckAnswers, ToldProvider
from ganeti_tx.rpc.calls.node import NodeVerify
from ganeti_tx.runtime.certificates import days_left
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.files_errors import reason
from ganeti_tx.runtime.names import MAX_HOSTS_FILE, parse_hosts
from ganeti_tx.runtime.paths import Paths

log = Logger()

EXECUTABLE = 0o111
MAX_CERTIFICATE = 64 * 1024
#: The checks of pools, by the storage type that each is about.
POOL_CHECKS = {each.check.name: each.storage for each in TEMPLATES.values() if each.check is not None}
#: The cluster's certificates that are there or not.
CERTIFICATES = (SERVER_CERTIFICATE, CLIENT_CERTIFICATE, AUTHORITY)
#: How each certificate of a file begins.
BEGINS = b"-----BEGIN CERTIFICATE-----"
OPTIONAL_CERTIFICATES = (RAPI_CERTIFICATE,)

#: One check of `node_verify`: takes the check's own argument.
Check = Callable[[Any], Awaitable[Any]]


@define
class NodeChecks:
    """The checks that a node knows. `reaches` tells whether a host answers at an address."""

    files: IFiles
    paths: Paths
    now: Callable[[], float]
    reaches: Callable[[str], Awaitable[bool]]
    storage: NodeStorage
    hypervisors: Mapping[str, IHypervisor]
    user_mode_marker: Path
    allowed_paths: AllowedPaths
    ssh: SshChecks
    #: Of the protocol and of the programs.
    versions: tuple[int, str]
    modes: PathChecks
    #: Which instances are told of themselves.
    told_guests: Check

    @answers(NodeVerify)
    async def verify(self, call: NodeVerify) -> CheckAnswers:
        """The checks asked for, of those that this node knows; under FAILED why one could not be made."""
        known, result, failed = self._checks(), {}, {}
        for name, argument in call.checks.items():
            if name in known:
                try:
                    result[name] = await known[name](argument)
                except OSError as error:
                    failed[name] = reason(error)
                except GanetiError as error:
                    failed[name] = error_text(error)
                except OWN_FAULTS as fault:
                    log.failure("the check {name} broke", name=name)
                    failed[name] = told_to_caller(fault)
        return CheckAnswers({**result, **({FAILED: failed} if failed else {})})

    def _checks(self) -> Mapping[str, Check]:
        pools = {name: self._pool_check(storage) for name, storage in POOL_CHECKS.items()}
        return {
            "version": self._version,
            "time": self._time,
            "hypervisor": self._hypervisors,
            "hvparams": self._parameters,
            "disk-formats": partial(machine_formats, self.hypervisors),
            "kept-owners": self._kept_owners,
            "told-guests": self.told_guests,
            "bridges": self._bridges,
            "interfaces": self._interfaces,
            "node-net-test": self._network,
            "node-setup": self._setup,
            "open-paths": self.modes.faults,
            "user-scripts": self._user_scripts,
            "oob-paths": self._programs,
            "certificates": self._certificates,
            "volumes": self._volumes,
            VOLUME_GROUP: self._pool_check(StorageType.LVM_VG.value),
            PHYSICAL_VOLUMES: self._physical_volumes,
            "named-pools": self._named_pools,
            "mirrors": self._mirrors,
            "storage-providers": self._providers,
            "allowed-file-storage-paths": self._allowed_paths,
            "ssh-files": self.ssh.file_faults,
            "ssh-strangers": self.ssh.strangers,
            "ssh-reach": self.ssh.unreached,
            "ssh-clutter": self.ssh.clutter,
            **pools,
        }

    async def _version(self, argument: object) -> list[Any]:
        return list(self.versions)

    async def _time(self, argument: object) -> float:
        return self.now()

    async def _allowed_paths(self, argument: object) -> list[str]:
        return self.allowed_paths.faults()

    async def _hypervisors(self, names: list[str]) -> dict[str, str | None]:
        """What is wrong with each, in one text; None when nothing is."""
        return {name: await self._hypervisor_fault(name) for name in names}

    async def _hypervisor_fault(self, name: str) -> str | None:
        hypervisor = self.hypervisors.get(name)
        if hypervisor is None:
            return f"hypervisor {name} is not available on this node"
        return "; ".join(await hypervisor.verify()) or None

    async def _kept_owners(self, names: list[str]) -> dict[str, list[str]]:
        """Of each hypervisor that keeps something of instances beside their disks the uuids of these."""
        keeping = {name: each for name, each in self.hypervisors.items() if IKeepsFirmware.providedBy(each)}
        return {name: list(IKeepsFirmware(keeping[name]).owners()) for name in names if name in keeping}

    async def _parameters(self, given: list[tuple[str, str, dict[str, Any]]]) -> list[tuple[str, str, str]]:
        """Of (source, hypervisor, filled parameters) those that do not fit this node, with the reason."""
        faults = []
        for source, name, params in given:
            if (hypervisor := self.hypervisors.get(name)) is not None:
                try:
                    await hypervisor.validate(params)
                except HypervisorError as error:
                    faults.append((source, name, error_text(error)))
        return faults

    async def _bridges(self, names: list[str]) -> list[str]:
        return missing_bridges(self.files, self.user_mode_marker, names)

    async def _interfaces(self, names: list[str]) -> list[str]:
        return missing_interfaces(self.files, names)

    async def _network(self, addresses: list[str]) -> list[str]:
        """Those of the addresses at which no host answers; all are tried at the same time."""
        tried = [(address, Deferred.fromCoroutine(self._answers(address))) for address in addresses]
        return [address for address, answer in tried if not await answer]

    async def _answers(self, address: str) -> bool:
        return await self.reaches(address)

    async def _setup(self, addresses: dict[str, str]) -> list[str]:
        """Where the hosts file has other addresses for these hosts."""
        if not self.files.exists(self.paths.etc_hosts):
            return []
        text = self.files.read(self.paths.etc_hosts, MAX_HOSTS_FILE).decode("utf-8", "replace")
        known = {family: parse_hosts(text, family) for family in set(map(family_of, addresses.values()))}
        told = {
            name: known[family_of(address)].get(name.lower(), (name, address))[1] for name, address in addresses.items()
        }
        return [
            f"/etc/hosts has the address {told[name]} for {name}, the cluster {address}"
            for name, address in addresses.items()
            if told[name] != address
        ]

    async def _user_scripts(self, argument: object) -> list[str]:
        """The administrator's scripts that cannot be run."""
        script = self.paths.external_master_setup_script
        return [str(script)] if self._program_fault(script) else []

    async def _programs(self, paths: list[str]) -> list[str | None]:
        """What is wrong with each program."""
        return [self._program_fault(Path(path)) for path in paths]

    def _program_fault(self, path: Path) -> str | None:
        try:
            found = self.files.stat(path)
        except OSError as error:
            return reason(error)
        return None if found.mode & EXECUTABLE and not found.is_directory else f"{path}: not an executable file"

    async def _certificates(self, argument: object) -> list[tuple[str, float, str]]:
        """The cluster's certificates with the days that each is good for, or why it cannot be used."""
        there = [file for file in OPTIONAL_CERTIFICATES if self.files.exists(self.paths.of(file))]
        found = [(file.path, *self._days(self.paths.of(file))) for file in (*CERTIFICATES, *there)]
        return [*found, *self._former_authority()]

    def _former_authority(self) -> Iterator[tuple[str, float, str]]:
        """That it is trusted still."""
        path = self.paths.authority_pem
        with suppress(OSError):
            if self.files.read(path, MAX_CERTIFICATE).count(BEGINS) > 1:
                yield (
                    AUTHORITY.path,
                    0.0,
                    "has a former authority's certificate, too: 'gnt-cluster renew-crypto --new-cluster-certificate' did not "
                    "end; say it again, if no such job runs",
                )

    def _days(self, path: Path) -> tuple[float, str]:
        try:
            return days_left(self.files.read(path, MAX_CERTIFICATE), self.now()), ""
        except OSError as error:
            return 0.0, f"cannot be read: {reason(error)}"
        except ValueError:
            return 0.0, "has no certificate in PEM form"

    async def _volumes(self, places: dict[str, str]) -> dict[str, list[list[Any]] | str]:
        """The logical ids of what is in the place of each template, or why that cannot be told."""
        return {template: await self._existing(template, place) for template, place in places.items()}

    async def _physical_volumes(self, group: str) -> list[tuple[str, int]]:
        """Those of a volume group, with their sizes in MiB."""
        pools = self.storage.pools.get(StorageType.LVM_PV.value)
        if not IUnits.providedBy(pools):
            return []
        return [(each.name, each.size) for each in await IUnits(pools).units([group])]

    async def _mirrors(self, templates: list[str]) -> dict[str, list[Any] | str]:
        """Of each template version, helper and minors of the module that makes its mirrors, or why it cannot be used."""
        return {template: await self._mirror_module(template) for template in templates}

    async def _mirror_module(self, template: str) -> list[Any] | str:
        try:
            storage = self.storage.of(template)
            found: MirrorModule = await IMirrorModule(storage).module()
        except BlockDeviceError as error:
            return error_text(error)
        return [found.version, found.helper, list(found.minors)]

    async def _providers(self, argument: object) -> list[ToldProvider]:
        """Every provider of external storage."""
        return [
            ToldProvider(each.name, str(each.path), each.fault, list(each.provider.parameters), each.provider.identity)
            if each.provider is not None
            else ToldProvider(each.name, str(each.path), each.fault, [])
            for each in Providers(self.files, self.paths.extstorage_search_path).all()
        ]

    async def _existing(self, template: str, place: str) -> list[list[Any]] | str:
        storage = self.storage.storages.get(template)
        if storage is None or not IExisting.providedBy(storage):
            return []
        try:
            return [each.logical_id for each in await IExisting(storage).existing(place)]
        except FileStoragePathError:  # the check of the pool tells
            return []
        except BlockDeviceError as error:
            return error_text(error)

    async def _named_pools(self, pools: list[tuple[str, str]]) -> list[str | None]:
        """Of (storage type, name) why it cannot be used; None when it can."""
        return [await self._pool_check(storage_type)(name) for storage_type, name in pools]

    def _pool_check(self, storage_type: str) -> Check:
        """Why disks cannot be kept in a pool; None when they can."""

        async def fault(name: str) -> str | None:
            pools = self.storage.pools.get(storage_type)
            return f"this node has no storage of type {storage_type}" if pools is None else await pools.fault(name)

        return fault
