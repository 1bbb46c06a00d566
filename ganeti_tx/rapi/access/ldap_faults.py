"""What is wrong with the settings of the directory though each line of them can be read: files and roles that are not there."""

from collections.abc import Callable, Collection, Iterator

from ganeti_tx.rapi.access.ldap_connection import DirectoryFault, reason_of, tls_of
from ganeti_tx.rapi.access.ldap_directory import read_bind_password
from ganeti_tx.rapi.access.ldap_settings import LdapSettings
from ganeti_tx.rapi.access.rights import unknown_words


def ldap_faults(
    settings: LdapSettings,
    read_file: Callable[[str, int], bytes],
    resources: Collection[str],
    roles: Collection[str],
) -> Iterator[str]:
    """Each in a few words; no server is asked."""
    try:
        tls_of(settings)
    except DirectoryFault as fault:
        yield str(fault)
    try:
        read_bind_password(settings, read_file)
    except DirectoryFault as fault:
        yield str(fault)
    except OSError as error:
        yield f"bind_password_file {settings.bind_password_file}: {reason_of(error)}"
    for group, rights in settings.groups.items():
        for word in unknown_words(rights, resources, roles):
            yield f"group {group}: {word!r} gives nothing, as there is no such {'role' if word[0] == '@' else 'resource'}"
