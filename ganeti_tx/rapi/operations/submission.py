"""Operations that submit a job of one opcode: what of it the path, the arguments and the body decide."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from attrs import frozen

from ganeti_tx.model.opcodes import Disclosure, OpCode, encode, encode_as_sent
from ganeti_tx.rapi.http.http_errors import bad_request, forbidden
from ganeti_tx.rapi.operations import arguments
from ganeti_tx.rapi.operations.bodies import body_object, checked, refuse_fixed, renamed, with_integers
from ganeti_tx.rapi.operations.operation import Argument, Call, Method, Operation, Schema
from ganeti_tx.rapi.operations.reasons import reason_trail
from ganeti_tx.rapi.operations.schemas import JOB_ID, body_of

READ = frozenset({"read"})
WRITE = frozenset({"write"})
READ_OR_WRITE = READ | WRITE
ANYBODY: frozenset[str] = frozenset()

#: The one key that is looked at in the body of operations which take no body.
DEPENDS = "depends"

Params = dict[str, Any]


@frozen
class Fixed:
    """A parameter of the opcode that no body may hold; `read` gives its value, None where the opcode's default counts."""

    name: str
    read: Callable[[Call], object]
    arguments: tuple[Argument, ...] = ()


def from_path(name: str, part: str = "", read: Callable[[str], object] = str) -> Fixed:
    """A part of the path, of the parameter's name if no other is given."""
    return Fixed(name, lambda call: read(call.parts[part or name]))


def from_flag(name: str, argument: Argument) -> Fixed:
    """An integer argument that is false unless it is given and not 0."""
    return Fixed(name, lambda call: arguments.flag(call, argument.name), (argument,))


def from_text(name: str, argument: Argument) -> Fixed:
    """A textual argument."""
    read = arguments.required_text if argument.required else arguments.text
    return Fixed(name, lambda call: read(call, argument.name), (argument,))


def constant(name: str, value: object) -> Fixed:
    """Always the same."""
    return Fixed(name, lambda call: value)


DRY_RUN = from_flag("dry_run", arguments.DRY_RUN)
FORCE = from_flag("force", arguments.FORCE)


def as_it_came(call: Call, body: Params) -> Params:
    """No preparation."""
    return body


@frozen
class Submission:
    """How a request becomes the one opcode of a job."""

    kind: type[OpCode]
    fixed: tuple[Fixed, ...] = ()
    #: What clients call parameters, to what the opcode calls them.
    renames: Mapping[str, str] = {}
    #: Parameters that are refused with 403.
    forbidden: frozenset[str] = frozenset()
    #: Whether the body is looked at beyond the jobs that this one depends on.
    takes_body: bool = True
    #: Changes the body before its names are.
    prepare: Callable[[Call, Params], Params] = as_it_came

    @property
    def fixed_names(self) -> frozenset[str]:
        """The parameters that no body may hold."""
        return frozenset(fixed.name for fixed in self.fixed)

    def parameters(self, call: Call) -> Params:
        """What the request says of the opcode. @raise HttpError: it says what it may not (400, 403)."""
        self._refuse_real_run(call)
        params = self._from_body(call) if self.takes_body else depends_of(call.body)
        values = {fixed.name: fixed.read(call) for fixed in self.fixed}
        return params | {name: value for name, value in values.items() if value is not None}

    def _refuse_real_run(self, call: Call) -> None:
        """@raise HttpError: it shall only be looked whether it could be done, but here it would be done (400)."""
        if (
            DRY_RUN not in self.fixed
            and call.operation.method != "GET"
            and arguments.flag(call, arguments.DRY_RUN.name)
        ):
            raise bad_request(f"argument '{arguments.DRY_RUN.name}' is not available here, and nothing was done")

    def _from_body(self, call: Call) -> Params:
        params = renamed(self.prepare(call, body_object(call.body)), self.renames)
        refuse_fixed(params, self.fixed_names)
        for name in sorted(self.forbidden & params.keys()):
            raise forbidden(f"'{name}' cannot be changed through the Remote API")
        return params

    async def run(self, call: Call) -> int:
        """Submit the job, or join an equal one if it only finds something out; its id."""
        params = self.parameters(call)
        op = with_reasons(call, checked(self.kind, params, self.renames, self.fixed_names | self.forbidden))
        if call.operation.method == "GET":
            return await find_out(call, op)
        sent = {name: value for name, value in params.items() if name != "reason"}  # which has grown
        return await call.luxi.submit_job([encode_as_sent(op, sent, Disclosure.WIRE)])

    def body_schema(self) -> Schema:
        """What the body may hold."""
        left_out = self.fixed_names | self.forbidden
        whole = body_of(self.kind, self.renames, left_out)
        if self.takes_body:
            return whole
        return {"properties": {DEPENDS: whole["properties"][DEPENDS]}}


def depends_of(body: object) -> Params:
    """The jobs that this one depends on, of a body that is otherwise not looked at."""
    return {DEPENDS: with_integers(body[DEPENDS])} if isinstance(body, dict) and DEPENDS in body else {}


def with_reasons(call: Call, op: OpCode) -> OpCode:
    """The opcode with the request's own entries at the end of its reason trail."""
    return msgspec.structs.replace(op, reason=(*op.reason, *reason_trail(call)))


async def submit(call: Call, *ops: OpCode) -> int:
    """Submit one job of opcodes; its id."""
    return await call.luxi.submit_job([encode(op, Disclosure.WIRE) for op in ops])


async def find_out(call: Call, op: OpCode) -> int:
    """The id of a job of one opcode that changes nothing: an open one that is equal, or a new one.

    @raise HttpError: as QuestionJobs.submit says.
    """
    if call.questions is None:
        return await submit(call, op)
    return await call.questions.submit(call.luxi, call.caller, call.address, op)


def submits(
    method: Method,
    path: str,
    resource: str,
    submission: Submission,
    summary: str,
    *more: Argument,
    body: Schema | None = None,
    body_required: bool | None = None,
    access: frozenset[str] = WRITE,
) -> Operation:
    """The operation of a submission.

    @param more: arguments beyond those that fixed parameters read.
    @param body: the schema of the body where it is not the opcode's.
    @param body_required: whether there must be one; when it is not said, where its schema requires a key.
    """
    read = [argument for fixed in submission.fixed for argument in fixed.arguments]
    schema = body or submission.body_schema()
    return Operation(
        method=method,
        path=path,
        resource=resource,
        access=access,
        run=submission.run,
        summary=summary,
        result=JOB_ID,
        arguments=(*read, *more, arguments.REASON),
        body=schema,
        body_required=bool(schema.get("required")) if body_required is None else body_required,
        submits=(submission.kind.op_id(),),
        tags=(noun_of(path),),
    )


def noun_of(path: str) -> str:
    """Under which heading documents list a path: the part after the version."""
    parts = path.strip("/").split("/")
    return parts[1] if len(parts) > 1 else "cluster"
