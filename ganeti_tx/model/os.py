"""An OS definition as a node found it."""

from ganeti_tx.model.base import Wire


class OS(Wire, frozen=True, kw_only=True, omit_defaults=False):
    """Where the scripts of an OS definition lie and what it supports; parameters are pairs of name and meaning."""

    name: str
    path: str
    api_versions: tuple[int, ...]
    create_script: str | None = None
    create_script_untrusted: str | None = None
    export_script: str | None = None
    import_script: str | None = None
    rename_script: str | None = None
    verify_script: str | None = None
    supported_variants: tuple[str, ...] = ()
    supported_parameters: tuple[tuple[str, str], ...] = ()
