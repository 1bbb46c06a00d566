"""One instance on its way."""

import random
import time
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any

from attrs import define

from ganeti_tx.errors import ECode, GenericError, OpPrereqError
from ganeti_tx.model.disk_formats import KEY
from ganeti_tx.model.own_features import DISK_FORMATS, OWN_FEATURES
from ganeti_tx.move_instance.command_words import Wanted
from ganeti_tx.move_instance.jobs import Job
from ganeti_tx.move_instance.new_instance import new_instance
from ganeti_tx.move_instance.taken_over import taken_over
from ganeti_tx.rapi_client import Client, RapiError
from ganeti_tx.rapi_client.records.cluster import ClusterInfo

#: Of the Remote API, which both sides must speak.
VERSION = 2
#: What the destination must be able to do.
FEATURE = "instance-create-reqv1"
#: By how much a delay varies, so that several that wait for the same do not try at the same moment.
VARIED = 0.2


class PutOffError(Exception):
    """The destination has no room now, and may have later."""


def check_clusters(source: Client, destination: Client, wanted: Wanted) -> None:
    """@raise GanetiError: one does not answer, or the destination cannot take what is meant."""
    for client, where in ((source, wanted.source.host), (destination, wanted.destination.host)):
        found = client.get_version()
        if found != VERSION:
            raise GenericError(f"the Remote API of {where} has version {found}; this program speaks {VERSION}")
    here = told_of_itself(destination, wanted.destination.host)
    if not (wanted.primary_node or wanted.allocator) and not here.default_iallocator:
        raise OpPrereqError(
            f"{wanted.destination.host} has no default allocator; give --dest-primary-node or --iallocator", ECode.INVAL
        )
    if FEATURE not in destination.get_features():
        raise GenericError(f"the Remote API of {wanted.destination.host} is too old: it lacks {FEATURE}")


def told_of_itself(destination: Client, host: str) -> ClusterInfo:
    """What the destination has, against which is held what the source tells. @raise GenericError: its user may not ask."""
    try:
        return destination.get_info()
    except RapiError as error:
        if error.status != HTTPStatus.FORBIDDEN:
            raise
        raise GenericError(
            f"{host} must tell what it has for instances (/2/info), against which is held what the source tells: {error};"
            " give the user or token the right to read 'info'"
        ) from None


def takes_formats(client: Client) -> bool:
    """Whether disks may lie in files otherwise than they are there. Ganeti's Remote API does not describe itself."""
    try:
        described = client.get_openapi()
    except RapiError as error:
        if error.status != HTTPStatus.NOT_FOUND:
            raise
        return False
    return DISK_FORMATS in described["info"].get(OWN_FEATURES, ())


@define
class Move:
    """By the Remote APIs of both clusters.

    @ivar tell: is told each step, with 2 what jobs say, and with 0 what nobody is to miss.
    """

    source: Client
    destination: Client
    wanted: Wanted
    instance: str
    tell: Callable[[str, int], None]

    def run(self) -> None:
        """@raise GanetiError: it was not moved; then it is where it was, unless the error says otherwise."""
        instance = self.source.get_instance(self.instance)
        job = self._job(self.source, self.source.get_instance_info(instance.name, static=True))
        info = taken_over(job.result()[instance.name], self.wanted, self.destination.get_info(), self._warn)
        started, tries = info["config_state"] == "up", self.wanted.tries
        for number in range(tries):
            try:
                return self._try(info, started=started, opportunistic=True)
            except PutOffError as error:
                self.tell(f"try {number + 1} of {tries}: {error}", 1)
                time.sleep(self.wanted.delay * (1 + random.uniform(-VARIED, VARIED)))
        return self._try(info, started=started, opportunistic=False)

    def _warn(self, text: str) -> None:
        self.tell(f"WARNING: {text}", 0)

    def _job(self, client: Client, job_id: int | str) -> Job:
        where = self.wanted.source.host if client is self.source else self.wanted.destination.host
        self.tell(f"submitted job {job_id} of {where}", 1)
        return Job(client, job_id, where, lambda text: self.tell(text, 2))

    def _try(self, info: Mapping[str, Any], *, started: bool, opportunistic: bool) -> None:
        """@raise PutOffError: the destination has no room now."""
        name = info["name"]
        self.tell("preparing the export", 1)
        prepared = self._job(self.source, self.source.prepare_export(name, "remote")).result()
        asked = new_instance(
            info,
            self.wanted,
            prepared,
            started=started,
            opportunistic=opportunistic,
            formats=takes_formats(self.destination),
        )
        for index, (disk, new) in enumerate(zip(info["disks"], asked["disks"], strict=True)):
            if disk.get(KEY) != new.get(KEY):
                self.tell(f"disk {index} becomes raw: {self.wanted.destination.host} has no {disk[KEY]} for it", 1)
        self.tell(f"creating {asked['name']}", 1)
        creation = self._job(self.destination, self.destination.create_instance(**asked))
        try:
            told = creation.until_listening()
        except OpPrereqError as error:
            if opportunistic and error.ecode == ECode.TEMP_NORES:
                raise PutOffError(str(error)) from None
            raise OpPrereqError(f"{creation.name}: {error}", error.ecode) from None
        self.tell("sending the disks", 1)
        self._both(self._export(name, prepared, told, creation), creation)

    def _export(self, name: str, prepared: Mapping[str, Any], told: Mapping[str, Any], creation: Job) -> Job:
        try:
            job_id = self.source.export_instance(
                name,
                "remote",
                told["disks"],
                shutdown=True,
                remove_instance=not self.wanted.keeps_source,
                x509_key_name=prepared["x509_key_name"],
                destination_x509_ca=told["x509_ca"],
                compress=self.wanted.compress,
                long_sleep=True if self.wanted.keeps_source else None,
            )
        except BaseException:
            creation.cancel()  # nobody will send it anything
            raise
        return self._job(self.source, job_id)

    def _both(self, export: Job, creation: Job) -> None:
        """@raise GenericError: one has failed."""
        errors = [export.error()]
        if errors[0]:
            creation.cancel()  # what it has not got by now it gets no more
        errors.append(creation.error())
        if any(errors):
            raise GenericError("; ".join(filter(None, errors)))
