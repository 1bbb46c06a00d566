"""What somebody may do: options, roles, permissions and scopes, as the last column of a users file tells them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from attrs import frozen

from ganeti_tx.model.scope import Scope, read_scope
from ganeti_tx.rapi.operations.operation import Operation

#: The options of Ganeti 3.0.
OPTIONS = frozenset({"read", "write"})
METHODS = frozenset({"GET", "PUT", "POST", "DELETE"})
#: Roles that are always there.
ADMIN, READONLY = "admin", "readonly"


@frozen
class Permission:
    """May call a resource with one method, or with all."""

    resource: str
    method: str | None = None

    def covers(self, operation: Operation) -> bool:
        """Whether it names this operation."""
        return self.resource == operation.resource and self.method in (None, operation.method)


@frozen(kw_only=True)
class Rights:
    """All that one user, token or role has."""

    options: frozenset[str] = frozenset()
    roles: frozenset[str] = frozenset()
    permissions: frozenset[Permission] = frozenset()
    #: Whoever has any is kept to what is in one of them.
    scopes: frozenset[Scope] = frozenset()

    def __or__(self, other: "Rights") -> "Rights":
        """Both together; somebody who has a scope from either side is scoped."""
        return Rights(
            options=self.options | other.options,
            roles=self.roles | other.roles,
            permissions=self.permissions | other.permissions,
            scopes=self.scopes | other.scopes,
        )

    def with_roles(self, defined: Mapping[str, "Rights"]) -> "Rights":
        """With what its roles give added."""
        rights = self
        for role in sorted(self.roles):
            rights |= defined.get(role, NOTHING)
        return rights

    def undefined(self, defined: Iterable[str]) -> frozenset[str]:
        """Roles that are neither built in nor among these; they might have held a scope."""
        return self.roles - {ADMIN, READONLY, *defined}

    def cover(self, operation: Operation) -> bool:
        """Whether they name an operation, in whatever way; roles of the administrator's own are to be added before."""
        return (
            ADMIN in self.roles
            or (READONLY in self.roles and only_reads(operation))
            or bool(self.options & operation.access)
            or any(permission.covers(operation) for permission in self.permissions)
        )

    def give_all_of(self, others: "Rights", operations: Iterable[Operation]) -> bool:
        """Whether whoever may do what others cover may do it with these, too; roles are to be added to both before."""
        as_wide = not self.scopes or (bool(others.scopes) and others.scopes <= self.scopes)
        return as_wide and all(self.cover(each) for each in operations if others.cover(each))

    def exceed(self, others: "Rights", operations: Sequence[Operation]) -> bool:
        """Whether they give all that others give, and more; roles are to be added to both before."""
        return self.give_all_of(others, operations) and not others.give_all_of(self, operations)

    @property
    def is_list(self) -> bool:
        """Whether they say one by one what is allowed, instead of with Ganeti 3.0's options alone."""
        return bool(self.roles or self.permissions) and not self.options

    def __str__(self) -> str:
        """As they are written in the column."""
        permissions = [":".join(filter(None, (each.resource, each.method))) for each in self.permissions]
        scopes = [str(scope) for scope in self.scopes]
        roles = [f"@{role}" for role in self.roles]
        return ",".join(word for words in (self.options, roles, permissions, scopes) for word in sorted(words))


NOTHING = Rights()


def only_reads(operation: Operation) -> bool:
    """Whether an operation changes nothing: every GET, and what the option "read" admits."""
    return operation.method == "GET" or "read" in operation.access


def read_rights(text: str) -> Rights:
    """Rights from words with commas between. @raise ValueError: one cannot be understood."""
    rights = NOTHING
    for word in (part.strip() for part in text.split(",")):
        if word:
            rights |= _read_word(word)
    return rights


def _read_word(word: str) -> Rights:
    if any(letter.isspace() for letter in word):
        raise ValueError(f"{word!r} has a space in it: put commas between options")
    if word in OPTIONS:
        return Rights(options=frozenset({word}))
    if word.startswith("@"):
        if len(word) == 1:
            raise ValueError("'@' stands before the name of a role")
        return Rights(roles=frozenset({word[1:]}))
    if "=" in word:
        return Rights(scopes=frozenset({read_scope(word)}))
    resource, colon, method = word.partition(":")
    if colon and method not in METHODS:
        raise ValueError(f"{word!r}: {method!r} is no method, allowed are {', '.join(sorted(METHODS))}")
    return Rights(permissions=frozenset({Permission(resource, method or None)}))


def unknown_words(rights: Rights, resources: Iterable[str], roles: Iterable[str]) -> Iterator[str]:
    """What the rights name and nobody knows: it gives nothing, and is perhaps mistyped."""
    yield from sorted({permission.resource for permission in rights.permissions} - set(resources))
    yield from sorted(f"@{role}" for role in rights.roles - {ADMIN, READONLY, *roles})
