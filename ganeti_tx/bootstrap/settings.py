"""What `gnt-cluster init` asks for, as a typed document; what it leaves out has a default here or is declared with its setting."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin

import msgspec

from ganeti_tx.bootstrap.problems import BootstrapError
from ganeti_tx.model import disk_templates, hypervisors
from ganeti_tx.model.derived import WithFields
from ganeti_tx.model.settings.rules import SETTINGS
from ganeti_tx.model.settings.setting import Program, Setting
from ganeti_tx.model.ssh_keys import default_bits


def chosen_at_init(settings: Iterable[Setting]) -> dict[str, tuple[Any, Any]]:
    """Type and default of what `init` says of each setting, by parameter."""
    return {
        flag.sets: (kind if default is not None else kind | None, default)
        for setting in settings
        for flag in setting.flags_on(Program.INIT)
        for kind, default in [(loose(setting.takes), unsaid(setting))]
    }


def loose(kind: Any) -> Any:
    """The type without what is checked, and told with the value, later."""
    origin = get_origin(kind)
    return get_args(kind)[0] if origin is Annotated else dict[str, Any] if origin is dict else kind


def unsaid(setting: Setting) -> Any:
    """What leaves a new cluster as it is."""
    if setting.change is not None:
        return {} if get_origin(setting.takes) is dict else ()
    return None if setting.at_first is msgspec.UNSET else setting.at_first


class InitSettings(
    msgspec.Struct,
    metaclass=WithFields,
    fields=chosen_at_init(SETTINGS),
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
):
    """The options of `gnt-cluster init` by the names of parameters; those that are written out here init itself acts upon."""

    cluster_name: str
    secondary_ip: str | None = None
    primary_ip_version: Literal[4, 6] = 4
    enabled_hypervisors: list[str] = msgspec.field(
        default_factory=lambda: [word.value for word in hypervisors.BY_DEFAULT]
    )
    enabled_disk_templates: list[str] = msgspec.field(
        default_factory=lambda: [word.value for word in disk_templates.UNASKED]
    )
    ipolicy: dict[str, Any] = {}
    master_netmask: int | None = None
    ssh_key_bits: int | None = None

    if TYPE_CHECKING:

        def __init__(self, **given: Any) -> None: ...

        def __getattr__(self, name: str) -> Any: ...

    @property
    def ssh_bits(self) -> int:
        """As given, or as usual for keys of the type."""
        return self.ssh_key_bits if self.ssh_key_bits is not None else default_bits(self.ssh_key_type)


def read_settings(data: bytes) -> InitSettings:
    """@raise BootstrapError: not such a document; the text names the key."""
    try:
        return msgspec.json.decode(data, type=InitSettings)
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise BootstrapError(f"cannot read the cluster's settings: {error}")
