"""A guest of one sector that any firmware boots from a disk: it says a count on its first serial line, twice a second."""

from pathlib import Path

from ganeti_tx.test.lab.kept import done, kept

SOURCE = Path(__file__).with_name("sector") / "tick.S"
ASSEMBLE = (
    *("gcc", "-m32", "-nostdlib", "-static", "-x", "assembler-with-cpp"),
    "-Wl,--oformat=binary,-Ttext=0x7c00,--build-id=none,-e,_start",
)


def sector() -> bytes:
    """Its 512 bytes. @raise LabFailed: it cannot be assembled."""

    def assemble(directory: Path) -> None:
        done([*ASSEMBLE, "-o", str(directory / "sector"), str(SOURCE)])

    return (kept("sector", [SOURCE.read_bytes(), " ".join(ASSEMBLE).encode()], assemble) / "sector").read_bytes()
