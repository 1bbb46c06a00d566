"""The machine itself: its type, memory, processors, clock and how it ends."""

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.hypervisors.kvm import KvmParams
from ganeti_tx.node.hypervisor.kvm.acceleration import Acceleration
from ganeti_tx.node.hypervisor.kvm.command.options import Value, option
from ganeti_tx.node.hypervisor.kvm.command.plan import QemuPlan

#: So many memory modules a machine can get while it runs.
MAX_DIMMS = 16

#: What is wrong where it does not.
NEEDS_KVM = "cpu_type host needs KVM, which does not work on this node; use max or leave it empty"


def identity_argv(plan: QemuPlan) -> list[str]:
    """Who it is, and that it stands still in the background until we let it run, or until it has come from elsewhere."""
    return [
        *("-name", option(plan.spec.name, debug_threads=True), "-uuid", plan.spec.uuid),
        *("-nodefaults", "-no-user-config", "-daemonize"),
        *(("-incoming", "defer") if plan.incoming else ("-S",)),
        *("-pidfile", str(plan.files.pid), "-D", str(plan.files.log)),
    ]


def machine_argv(plan: QemuPlan) -> list[str]:
    """Type, acceleration, memory, clock and the ends of the machine."""
    params = plan.params
    machine = option(params.machine_version or "pc", smm=True if params.secure_boot else None)
    argv = ["-machine", machine, "-accel", plan.acceleration.value, *memory_argv(plan)]
    if params.mem_path:
        argv += ["-mem-path", params.mem_path, "-mem-prealloc"]
    argv += ["-rtc", option("", base="localtime" if params.use_localtime else "utc")]
    if not params.acpi:
        argv.append("-no-acpi")
    if params.reboot_behavior == "exit":
        argv.append("-no-reboot")
    if params.user_shutdown:
        argv.append("-no-shutdown")  # then the instance stays, powered off, and tells that the guest ended it
    return argv


def memory_argv(plan: QemuPlan) -> list[str]:
    """What it begins with, room for more, and what has come while it ran elsewhere."""
    first = plan.memory - sum(plan.dimms)
    argv = ["-m", option(f"{first}M", **more_memory(plan))]
    for number, size in enumerate(plan.dimms):
        argv += ["-object", option("", **{**memory_backend(plan.params, number), "size": f"{size}M"})]
        argv += ["-device", option("", **dimm(number))]
    return argv


def more_memory(plan: QemuPlan) -> dict[str, Value]:
    """Slots for modules, and up to what size."""
    return {"slots": MAX_DIMMS, "maxmem": f"{plan.params.max_memory}M"} if plan.params.max_memory else {}


def memory_backend(params: KvmParams, number: int) -> dict[str, Value]:
    """What holds a memory module, without its size; it comes from where the rest comes from."""
    values: dict[str, Value] = {"driver": "memory-backend-file" if params.mem_path else "memory-backend-ram"}
    values["id"] = f"memory-{number}"
    return {**values, "mem_path": params.mem_path, "prealloc": True} if params.mem_path else values


def dimm(number: int) -> dict[str, Value]:
    """The memory module of that slot, as the guest sees it."""
    return {"driver": "pc-dimm", "id": f"dimm-{number}", "memdev": f"memory-{number}", "slot": number}


def needs_kvm(params: KvmParams) -> bool:
    """Whether the processor is none that QEMU could be itself."""
    return params.cpu_type.partition(",")[0] == "host"


def cpu_argv(plan: QemuPlan) -> list[str]:
    """Number, shape and model of the processors. @raise HypervisorError: the model needs KVM, which is not there.

    Those that came while it ran elsewhere come here, too, when QEMU runs: it gives devices as many queues as it begins with.
    """
    params = plan.params
    shape = {
        name: value
        for name, value in (
            ("sockets", params.cpu_sockets),
            ("cores", params.cpu_cores),
            ("threads", params.cpu_threads),
        )
        if value
    }
    first = str(plan.vcpus - plan.plugged_vcpus)
    argv = ["-smp", option(first, **({"maxcpus": most} if (most := plan.params.max_vcpus) else {}), **shape)]
    if params.cpu_type:
        if needs_kvm(params) and plan.acceleration is not Acceleration.KVM:
            raise HypervisorError(NEEDS_KVM)
        argv += ["-cpu", params.cpu_type]
    return argv


def kernel_argv(plan: QemuPlan) -> list[str]:
    """A kernel from the node, when one is set."""
    params = plan.params
    if not params.kernel_path:
        return []
    words = [f"root={params.root_path}", params.kernel_args]
    if params.serial_console:
        words.append(f"console=ttyS0,{params.serial_speed}")
    argv = ["-kernel", params.kernel_path, "-append", " ".join(word for word in words if word)]
    return argv + (["-initrd", params.initrd_path] if params.initrd_path else [])


def confinement_argv(plan: QemuPlan) -> list[str]:
    """What QEMU gives up once it runs."""
    argv = ["-runas", plan.run_as] if plan.run_as else []
    return argv + (["-chroot", str(plan.files.chroot)] if plan.params.use_chroot else [])
