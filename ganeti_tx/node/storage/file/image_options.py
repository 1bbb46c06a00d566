"""How QEMU's programs are told of an image, so that they neither guess its format nor follow it to another file."""

from ganeti_tx.model.disk_template import QCOW2


def image_options(path: str, **more: str) -> str:
    """For programs that take options in one word. @param more: of the image's own."""
    told = {"driver": QCOW2, **more, "file.driver": "file", "file.filename": path}
    return ",".join(f"{key}={value.replace(',', ',,')}" for key, value in told.items())
