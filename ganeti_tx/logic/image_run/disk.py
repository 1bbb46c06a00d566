"""The disk that holds an image as long as an instance runs from it; the configuration never knows of it."""

from collections.abc import Sequence

from msgspec.structs import replace

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.logic.disks.make import make_disk
from ganeti_tx.logic.disks.plan import READ_WRITE, DiskPlan, space_wanted
from ganeti_tx.logic.parts import Parts
from ganeti_tx.logic.questions import ask, check_room
from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.disk_specs import disk_specs
from ganeti_tx.model.disk_template import Place, Template
from ganeti_tx.model.disk_templates import AVAILABLE, TEMPLATES
from ganeti_tx.model.enums import DiskTemplate, FileDriver
from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.pools import pool_of
from ganeti_tx.rpc.calls.image import ImageSize


def holds_images(template: Template) -> bool:
    """Whether a disk of it is on one node alone, and made of nothing but room in the cluster's pool."""
    alone = template.has_disks and not (template.shared or template.secondaries or template.children)
    return alone and template.pool is not None and template.locate is not None and not template.needs


#: Those it may be of; devices before files.
CANDIDATES: Sequence[DiskTemplate] = sorted(
    (word for word in AVAILABLE if holds_images(TEMPLATES[word])), key=lambda word: TEMPLATES[word].in_files
)


def template_for(cluster: Cluster) -> DiskTemplate:
    """Of which template it is. @raise OpPrereqError: the cluster has none for it."""
    for word in CANDIDATES:
        if word in cluster.enabled_disk_templates and pool_of(TEMPLATES[word], cluster):
            return word
    wanted = " or ".join(word.value for word in CANDIDATES)
    raise OpPrereqError(f"an image needs a disk of template {wanted}; enable one in the cluster", ECode.STATE)


async def plan_image_disk(parts: Parts, target: InstanceView, image: str) -> DiskSpec:
    """The disk as it is to be made on the instance's primary node.

    @raise OpPrereqError: the image is not there, or there is no room for it.
    """
    word, cluster = template_for(target.cluster), target.cluster
    size = await ask(parts.nodes, target.primary, ImageSize(image=image), ECode.ENVIRON)
    pool = pool_of(TEMPLATES[word], cluster)
    place = Place(pool=pool, directory=f"{pool}/{target.instance.name}", driver=FileDriver.LOOP.value, said={})
    plan = DiskPlan(word, size, READ_WRITE, None, None, place)
    await check_room(parts.nodes, target.primary, space_wanted([plan]))
    disk = await make_disk(parts.config, plan, len(target.disks), [target.primary.uuid])
    (spec,) = disk_specs([disk], cluster, target.group, target.primary, target.nodes)
    return replace(spec, index=-1, iv_name="", exclusive=False)  # it is none of the instance's own
