"""What LXC's log says of a container that did not come to run."""

#: What helps where the kernel has AppArmor, but not LXC's profiles.
NO_PROFILE = (
    "; install apparmor and have LXC's profiles loaded ('apparmor_parser -r /etc/apparmor.d/lxc-containers'),"
    " or do without: extra_config=lxc.apparmor.profile = unconfined"
)


def first_error(text: str) -> str:
    """The first, as what follows follows from it; empty when there is none."""
    lines = text.strip().splitlines()
    if not lines:
        return ""
    advice = NO_PROFILE if "apparmor" in lines[0] else ""
    return f"LXC says: {lines[0][:500]}{advice}"
