"""One instance on its way."""

import random
import time
from collections.abc import Callable, Mapping
from typing import Any

from attrs import define

from ganeti_tx.errors import ECode, GenericError, OpPrereqError
from ganeti_tx.move_instance.command_words import Wanted
from ganeti_tx.move_instance.jobs import Job
from ganeti_tx.move_instance.new_instance import new_instance
from ganeti_tx.rapi_client import Client

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
    if not (wanted.primary_node or wanted.allocator) and not destination.get_info().default_iallocator:
        raise OpPrereqError(
            f"{wanted.destination.host} has no default allocator; give --dest-primary-node or --iallocator", ECode.INVAL
        )
    if FEATURE not in destination.get_features():
        raise GenericError(f"the Remote API of {wanted.destination.host} is too old: it lacks {FEATURE}")


@define
class Move:
    """By the Remote APIs of both clusters. @ivar tell: is told each step, and with 2 what jobs say."""

    source: Client
    destination: Client
    wanted: Wanted
    instance: str
    tell: Callable[[str, int], None]

    def run(self) -> None:
        """@raise GanetiError: it was not moved; then it is where it was, unless the error says otherwise."""
        instance = self.source.get_instance(self.instance)
        job = self._job(self.source, self.source.get_instance_info(instance.name, static=True))
        info = job.result()[instance.name]
        started, tries = info["config_state"] == "up", self.wanted.tries
        for number in range(tries):
            try:
                return self._try(info, started=started, opportunistic=True)
            except PutOffError as error:
                self.tell(f"try {number + 1} of {tries}: {error}", 1)
                time.sleep(self.wanted.delay * (1 + random.uniform(-VARIED, VARIED)))
        return self._try(info, started=started, opportunistic=False)

    def _job(self, client: Client, job_id: int | str) -> Job:
        where = self.wanted.source.host if client is self.source else self.wanted.destination.host
        self.tell(f"submitted job {job_id} of {where}", 1)
        return Job(client, job_id, where, lambda text: self.tell(text, 2))

    def _try(self, info: Mapping[str, Any], *, started: bool, opportunistic: bool) -> None:
        """@raise PutOffError: the destination has no room now."""
        name = info["name"]
        self.tell("preparing the export", 1)
        prepared = self._job(self.source, self.source.prepare_export(name, "remote")).result()
        asked = new_instance(info, self.wanted, prepared, started=started, opportunistic=opportunistic)
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
