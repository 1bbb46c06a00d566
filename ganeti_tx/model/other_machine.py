"""A machine that has the name of an instance, and was started for another one."""


def other_machine(name: str, node_name: str, owner: str, ended_by: str, hypervisor: str) -> str:
    """What it is, and what ends it.

    @param owner: the uuid of the instance for which it was started; '': nobody remembers.
    @param hypervisor: under which it runs; '': an older node does not say.
    """
    under = f" under {hypervisor}" if hypervisor else ""
    whose = f" (uuid {owner})" if owner else ""
    return (
        f"the machine {name} that runs{under} on node {node_name} was started for another instance of that name{whose},"
        f" which was removed or renamed, and is left alone{how_it_ends(ended_by)}"
    )


def how_it_ends(ended_by: str) -> str:
    """What an administrator does about a machine that belongs to nobody. @param ended_by: '': its node does not tell."""
    return f"; '{ended_by}' on that node ends it" if ended_by else ""
