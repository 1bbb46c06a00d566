"""The tags of everything that has some."""

from attrs import frozen

from ganeti_tx.model.enums import TagKind
from ganeti_tx.model.opcodes import OpTagsDel, OpTagsSet
from ganeti_tx.rapi.http.http_errors import bad_request
from ganeti_tx.rapi.operations.operation import Argument, Call, Operation
from ganeti_tx.rapi.operations.schemas import TEXT, list_of
from ganeti_tx.rapi.operations.submission import (
    ANYBODY,
    DRY_RUN,
    Fixed,
    Submission,
    constant,
    from_path,
    noun_of,
    submits,
)
from ganeti_tx.rapi.resources.places import GROUP_PATH, INSTANCE_PATH, NETWORK_PATH, NODE_PATH

TAG = Argument("tag", "list", required=True, repeatable=True, meaning="A tag; give it once for each")


def tags(call: Call) -> list[str]:
    """All that were given. @raise HttpError: there is none (400)."""
    given = call.arguments.get(TAG.name)
    if not given:
        raise bad_request("argument 'tag' is missing; give it as ?tag=...&tag=...")
    return given


@frozen
class Tagged:
    """Something that has tags; the cluster is named by no part of its path."""

    kind: TagKind
    path: str
    resource: str
    part: str = ""

    async def read(self, call: Call) -> list[str]:
        """The tags in order."""
        return await call.luxi.query_tags(self.kind.value, call.parts[self.part] if self.part else "")

    def operations(self) -> tuple[Operation, ...]:
        """GET, PUT and DELETE."""
        name = from_path("name", self.part) if self.part else constant("name", None)
        fixed = (constant("kind", self.kind.value), name, Fixed("tags", tags, (TAG,)), DRY_RUN)
        return (
            Operation(
                method="GET",
                path=self.path,
                resource=self.resource,
                access=ANYBODY,
                run=self.read,
                summary=f"List the tags of a {self.kind.value}",
                result=list_of(TEXT),
                tags=(noun_of(self.path),),
            ),
            submits(
                "PUT",
                self.path,
                self.resource,
                Submission(OpTagsSet, fixed, takes_body=False),
                f"Add tags to a {self.kind.value}",
            ),
            submits(
                "DELETE",
                self.path,
                self.resource,
                Submission(OpTagsDel, fixed, takes_body=False),
                f"Take tags from a {self.kind.value}",
            ),
        )


TAGGED = (
    Tagged(TagKind.CLUSTER, "/2/tags", "tags"),
    Tagged(TagKind.INSTANCE, f"{INSTANCE_PATH}/tags", "instances_name_tags", "instance_name"),
    Tagged(TagKind.NODE, f"{NODE_PATH}/tags", "nodes_name_tags", "node_name"),
    Tagged(TagKind.NODEGROUP, f"{GROUP_PATH}/tags", "groups_name_tags", "group_name"),
    Tagged(TagKind.NETWORK, f"{NETWORK_PATH}/tags", "networks_name_tags", "network_name"),
)

OPERATIONS = tuple(operation for tagged in TAGGED for operation in tagged.operations())
