"""If-Match: a change is made only if its object is still in the state that the client saw (design-2.0, E-Tag)."""

from collections.abc import Iterable, Mapping
from http import HTTPStatus

from attrs import define, evolve, field

from ganeti_tx.rapi.http.etag import ANY, Version, listed, version_in
from ganeti_tx.rapi.http.http_errors import HttpError
from ganeti_tx.rapi.http.representation import Representation
from ganeti_tx.rapi.operations.operation import Call, Operation

#: What the objects of a path are called in queries.
KINDS = {"instances": "instance", "nodes": "node", "groups": "group", "networks": "network"}
VERSION_FIELDS = ["uuid", "serial_no"]
#: Shows the cluster, which is what all paths change that are below no object.
CLUSTER = "/2/info"


@define
class Preconditions:
    """Looks up in which state things are now; `operations` are all there are."""

    operations: Iterable[Operation]
    _shows: Mapping[str, Operation] = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._shows = {each.path: each for each in self.operations if each.method == "GET" and not each.submits}

    async def check(self, if_match: str, call: Call) -> None:
        """@raise HttpError: 412, none of the tags is that of the present state"""
        tags = listed(if_match)
        version = await version_now(call)
        if ANY in tags or (version is not None and version in map(version_in, tags)):
            return
        if any(version_in(tag) is None for tag in tags) and await self._tag_now(call, version) in tags:
            return
        now = f"; its serial number is {version.serial} now" if version is not None else ""
        raise failed(f"what the change was meant for has been changed since{now}")

    async def _tag_now(self, call: Call, version: Version | None) -> str | None:
        """The tag of what GET shows at the same place; without that and below no object, of the cluster."""
        shown = self._shows.get(call.operation.path)
        if shown is None and version is None:
            shown = self._shows.get(CLUSTER)
        if shown is None:
            return None
        asked = evolve(call, operation=shown, arguments={}, body=None)
        return Representation.of(await shown.run(asked)).tag


async def version_now(call: Call) -> Version | None:
    """The state of the object to which a path belongs; None for those without serial number.

    @raise HttpError: 412, there is no such object
    """
    _, _, noun, *below = call.operation.path.split("/")
    if noun not in KINDS or not below:
        return None
    name = call.parts[below[0].strip("{}")]
    answer = await call.luxi.query(KINDS[noun], VERSION_FIELDS, ["=", "name", name])
    for (_, uuid), (_, serial) in answer["data"]:
        return Version(uuid, serial)
    raise failed(f"there is no {KINDS[noun]} {name!r}")


def failed(text: str) -> HttpError:
    """412."""
    return HttpError(HTTPStatus.PRECONDITION_FAILED, text)
