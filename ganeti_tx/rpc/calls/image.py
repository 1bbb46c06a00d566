"""Calls about images from which machines are started."""

from typing import ClassVar

from ganeti_tx.rpc.calls.base import FAST, SLOW, Question
from ganeti_tx.rpc.calls.disk import DiskCall


class ImageSize(Question[int], frozen=True, kw_only=True):
    """How many MiB an image takes, which is a file of the node, by its path, or somewhere else, by its URL."""

    name: ClassVar[str] = "image_size"
    timeout: ClassVar[float] = FAST
    image: str


class BlockdevImage(DiskCall[None], frozen=True, kw_only=True):
    """Write an image of at most `size` MiB to the beginning of a disk that is ready."""

    name: ClassVar[str] = "blockdev_image"
    timeout: ClassVar[float] = SLOW
    image: str
    size: int
