"""What nobody else may see of a configuration, whatever its layout: made empty where it belongs and wherever it is repeated."""

import re
from collections.abc import Iterator
from typing import Any

#: What is left out wherever it stands.
PRIVATE = frozenset({"osparams_private", "osparams_private_cluster", "osparams_secret"})
#: The places of a mirror, and where in each is what its two ends know each other by; the second was kept until 2.8.
MIRROR_SECRETS = {"logical_id": 5, "physical_id": 6}
MIRROR = "drbd"
#: Texts of operators that programs take as they are; passwords may stand in them.
FREE_TEXTS = frozenset({"kvm_extra", "kernel_args", "extra_config", "extra_cgroups"})
#: Parameters of systems and of others' storage mean what these say.
FREE_TABLES = frozenset({"osparams"})
EXTERNAL = "ext"
#: Its parameter that is no secret.
PROVIDER = "provider"
PASSWORD_KEY = re.compile(
    r"passw|passphrase|secret|token|credential|api_?key|private_?key|(?:^|[_-])(?:pass|pw|key)$", re.IGNORECASE
)
#: The user and the password of a URL.
URL_USER = re.compile(r"(?<=://)[^/@\s]+@")
#: Shorter ones are common words, and are made empty only where they belong.
SHORTEST = 6
#: What names things is no secret, though a private parameter may repeat it.
PUBLIC_KEYS = frozenset({"name", "uuid", "os", "cluster_name", "master_node"})


def without_secrets(document: dict[str, Any]) -> dict[str, Any]:
    """The same document; keys stay."""
    secrets = {text for text in secrets_in(document) if len(text) >= SHORTEST} - set(public_in(document))
    words = "|".join(re.escape(text) for text in sorted(secrets, key=len, reverse=True))
    repeated = re.compile(f"(?<![A-Za-z0-9])(?:{words})(?![A-Za-z0-9])" if words else "(?!)")
    found: dict[str, Any] = cleaned(document, repeated)
    return found


def secrets_in(value: Any) -> Iterator[str]:
    """Of mirrors, and private parameters."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key in PRIVATE:
                yield from texts_in(inner)
            elif is_mirror(value) and key in MIRROR_SECRETS and isinstance(inner, list):
                yield from (text for text in inner[MIRROR_SECRETS[key] :] if isinstance(text, str))
            elif PASSWORD_KEY.search(key) and isinstance(inner, str):
                yield inner
            else:
                yield from secrets_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from secrets_in(inner)


def public_in(value: Any) -> Iterator[str]:
    """Keys of tables, and the names of things."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            if key in PUBLIC_KEYS and isinstance(inner, str):
                yield inner
            elif key not in PRIVATE:
                yield from public_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from public_in(inner)


def texts_in(value: Any) -> Iterator[str]:
    """All texts, but for keys."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from texts_in(inner)


def is_mirror(value: dict[str, Any]) -> bool:
    """Whether an object is a mirrored disk, of any version of its driver."""
    return str(value.get("dev_type", "")).startswith(MIRROR)


def cleaned(value: Any, repeated: re.Pattern[str]) -> Any:
    """Without what is secret by its place, or repeats what is."""
    if isinstance(value, dict):
        return {key: cleaned_of(value, key, inner, repeated) for key, inner in value.items()}
    if isinstance(value, list):
        return [cleaned(inner, repeated) for inner in value]
    return URL_USER.sub("", repeated.sub("", value)) if isinstance(value, str) else value


def cleaned_of(owner: dict[str, Any], key: str, value: Any, repeated: re.Pattern[str]) -> Any:
    """What stands under a key of an object."""
    if key in PRIVATE:
        return {}
    if key in FREE_TABLES or key in FREE_TEXTS or (PASSWORD_KEY.search(key) and not isinstance(value, dict)):
        return emptied(value)
    if key == "params" and owner.get("dev_type") == EXTERNAL and isinstance(value, dict):
        return {name: inner if name == PROVIDER else emptied(inner) for name, inner in value.items()}
    if key == "diskparams" and isinstance(value, dict):
        return {name: emptied(inner) if name == EXTERNAL else cleaned(inner, repeated) for name, inner in value.items()}
    if key in MIRROR_SECRETS and isinstance(value, list) and is_mirror(owner):
        end = MIRROR_SECRETS[key]
        return [*cleaned(value[:end], repeated), *emptied(value[end:])]
    return cleaned(value, repeated)


def emptied(value: Any) -> Any:
    """Its shape and its keys alone."""
    if isinstance(value, dict):
        return {key: emptied(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [emptied(inner) for inner in value]
    return value if value is None or isinstance(value, bool) else ""
