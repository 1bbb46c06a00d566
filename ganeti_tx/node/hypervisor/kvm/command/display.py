"""The graphical console: VNC, SPICE or none."""

from pathlib import Path

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.host_port import host_port
from ganeti_tx.model.hypervisor import VNC_BASE_PORT
from ganeti_tx.node.hypervisor.kvm.command.options import Value, option
from ganeti_tx.node.hypervisor.kvm.command.plan import QemuPlan


def display_argv(plan: QemuPlan) -> list[str]:
    """The graphics card, the keymap and how they are reached."""
    params = plan.params
    shown = bool(params.vnc_bind_address or params.spice_bind)
    card = params.vga or ("qxl" if params.spice_bind else "std" if params.vnc_bind_address else "none")
    argv = ["-vga", card]
    if params.vnc_bind_address:
        argv += vnc_argv(plan)
    elif params.spice_bind:
        argv += spice_argv(plan)
    else:
        argv += ["-display", "none"]
    return argv + (["-k", params.keymap] if params.keymap and shown else [])


def vnc_argv(plan: QemuPlan) -> list[str]:
    """VNC on a port, or on a socket when the bind address is a directory; the password is set later, over QMP."""
    params = plan.params
    argv: list[str] = []
    credentials = None
    if params.vnc_tls:
        credentials = "vnc-tls"
        certificates = params.vnc_x509_path
        kind = "tls-creds-x509" if certificates else "tls-creds-anon"
        values: dict[str, Value] = {"id": credentials, "endpoint": "server", "verify_peer": params.vnc_x509_verify}
        argv += ["-object", option(kind, **values, dir=certificates or None)]
    return [
        *argv,
        "-vnc",
        option(vnc_address(plan), tls_creds=credentials, password=True if params.vnc_password_file else None),
    ]


def vnc_address(plan: QemuPlan) -> str:
    """Where VNC listens, as QEMU writes it. @raise HypervisorError: no port."""
    address = plan.params.vnc_bind_address
    if address.startswith("/"):
        return f"unix:{vnc_socket(address, plan.spec.name)}".replace(",", ",,")
    port = console_port(plan, "VNC")
    if port < VNC_BASE_PORT:
        raise HypervisorError(f"network port {port} cannot be used for VNC: below {VNC_BASE_PORT}")
    return host_port(address.replace(",", ",,"), port - VNC_BASE_PORT)


def vnc_socket(directory: str, name: str) -> Path:
    """That of an instance whose bind address is a directory."""
    return Path(directory) / f"{name}.vnc"


def spice_argv(plan: QemuPlan) -> list[str]:
    """SPICE with what is set of its many options; without TLS its password goes over the network unprotected."""
    params = plan.params
    port = console_port(plan, "SPICE")
    values: dict[str, Value] = {"addr": params.spice_bind}
    if params.spice_use_tls:
        values |= {
            "tls_port": port,
            "x509_key_file": str(plan.paths.spice_pem),
            "x509_cert_file": str(plan.paths.spice_pem),
            "x509_cacert_file": str(plan.paths.spice_ca_pem),
            "tls_ciphers": params.spice_tls_ciphers,
        }
    else:
        values["port"] = port
    if params.spice_ip_version:
        values[f"ipv{params.spice_ip_version}"] = True
    values |= {
        "disable_ticketing": None if params.spice_password_file else True,
        "image_compression": params.spice_image_compression or None,
        "jpeg_wan_compression": params.spice_jpeg_wan_compression or None,
        "zlib_glz_wan_compression": params.spice_zlib_glz_wan_compression or None,
        "streaming_video": params.spice_streaming_video or None,
        "playback_compression": params.spice_playback_compression,
        "agent_mouse": params.spice_use_vdagent,
    }
    argv = ["-spice", option("", **values)]
    if params.spice_use_vdagent:
        argv += ["-chardev", option("spicevmc", id="vdagent", name="vdagent")]
        argv += ["-device", option("virtserialport", chardev="vdagent", name="com.redhat.spice.0")]
    return argv


def console_port(plan: QemuPlan, what: str) -> int:
    """The port the cluster gave the instance. @raise HypervisorError: it gave none."""
    if plan.spec.network_port is None:
        raise HypervisorError(f"the instance has no network port for {what}")
    return plan.spec.network_port
