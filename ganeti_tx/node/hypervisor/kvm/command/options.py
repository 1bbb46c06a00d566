"""QEMU's way to write options: "kind,name=value,..."."""

Value = str | int | bool | None
#: Where QEMU itself writes an underscore.
UNDERSCORED = ("vnet_hdr",)


def option(kind: str, **values: Value) -> str:
    """One option string: None is left out, booleans are on and off, commas are doubled, "_" in a name is "-".

    An empty kind is the value `driver`, when there is one.
    """
    kind = kind or str(values.pop("driver", ""))
    parts = [kind] if kind else []
    parts += [f"{_name(name)}={_text(value)}" for name, value in values.items() if value is not None]
    return ",".join(parts)


def _name(name: str) -> str:
    return name if name in UNDERSCORED else name.replace("_", "-")


def _text(value: Value) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value).replace(",", ",,")


def listening_socket(chardev: str, path: object) -> list[str]:
    """A character device on a Unix socket that waits for nobody."""
    return ["-chardev", option("socket", id=chardev, path=str(path), server=True, wait=False)]


def arguments(**values: Value) -> dict[str, str | int | bool]:
    """The same as the arguments of a QMP command."""
    return {_name(name): value for name, value in values.items() if value is not None}
