"""Every page of this installation. What a program declares is found by its entry point, so no list of them is kept here."""

import importlib
from collections.abc import Iterator, Mapping
from importlib.metadata import EntryPoint

from twisted.application.service import IServiceMaker
from twisted.plugin import getPlugins

from ganeti_tx.cli.main import program_named
from ganeti_tx.installation.manual.gnt_pages import gnt_body
from ganeti_tx.installation.manual.other_pages import daemon_body, parser_body
from ganeti_tx.installation.manual.roff import page


def manual_pages(programs: Mapping[str, EntryPoint]) -> dict[str, str]:
    """By program."""
    daemons = {maker.tapname: maker for maker in getPlugins(IServiceMaker)}
    return {name: page(name, *_content(name, entry, daemons)) for name, entry in sorted(programs.items())}


def _content(name: str, entry: EntryPoint, daemons: Mapping[str, IServiceMaker]) -> tuple[str, Iterator[str]]:
    """What a program is in a few words, and its page's sections."""
    if name.startswith("gnt-"):
        program = program_named(name)
        return _lower(program.about), gnt_body(program)
    if name in daemons:
        return str(daemons[name].description), daemon_body(name, daemons[name].options())
    parser = importlib.import_module(entry.module).parser()
    about = (parser.description or name).split(". ")[0].strip().rstrip(".")
    return _lower(" ".join(about.split())), parser_body(parser)


def _lower(text: str) -> str:
    return f"{text[0].lower()}{text[1:]}"
