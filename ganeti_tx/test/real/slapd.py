"""OpenLDAP's server, with a configuration, certificates and data of its own, on this machine's loopback."""

import datetime
import signal
import socket
import subprocess
import time
from pathlib import Path

from attrs import define, field
from ldap3 import MODIFY_REPLACE, SIMPLE, Connection, Server
from ldap3.core.exceptions import LDAPException

from ganeti_tx.runtime.certificates import create_authority, issue_server

PROGRAM = Path("/usr/sbin/slapd")
BASE = "dc=example,dc=com"
ROOT, ROOT_PASSWORD = f"cn=root,{BASE}", "root-secret"
SEARCHER, SEARCHER_PASSWORD = f"cn=searcher,{BASE}", "searcher-secret"
#: The one name in its certificate.
HOST = "localhost"

CONFIGURATION = """
include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/nis.schema
include /etc/ldap/schema/inetorgperson.schema
modulepath /usr/lib/ldap
moduleload back_mdb
pidfile {directory}/slapd.pid
TLSCertificateFile {directory}/server.pem
TLSCertificateKeyFile {directory}/server.key
security simple_bind=128
sizelimit unlimited
database mdb
suffix "{base}"
rootdn "{root}"
rootpw {root_password}
directory {directory}/data
access to attrs=userPassword by anonymous auth by * none
access to * by dn.exact="{searcher}" read by users read by * none
"""

DATA = """
dn: {base}
objectClass: dcObject
objectClass: organization
o: example

dn: {searcher}
objectClass: organizationalRole
objectClass: simpleSecurityObject
userPassword: {searcher_password}

dn: ou=people,{base}
objectClass: organizationalUnit

dn: ou=groups,{base}
objectClass: organizationalUnit
"""

PERSON = """
dn: uid={name},ou=people,{base}
objectClass: inetOrgPerson
cn: {name}
sn: {name}
userPassword: {password}
"""

GROUP = """
dn: cn={name},ou=groups,{base}
objectClass: groupOfNames
{members}
"""


def free_port() -> int:
    """A TCP port of the loopback that nobody uses now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def dn_of(name: str) -> str:
    """Where a person is."""
    return f"uid={name},ou=people,{BASE}"


@define
class Slapd:
    """One server; `people` are names with passwords, `groups` names with members."""

    directory: Path
    people: dict[str, str]
    groups: dict[str, list[str]]
    port: int = field(factory=free_port)
    tls_port: int = field(factory=free_port)
    _process: "subprocess.Popen[bytes] | None" = field(default=None, init=False)

    @property
    def authority(self) -> Path:
        """What its certificate is signed by."""
        return self.directory / "ca.pem"

    def prepare(self) -> None:
        """Write all that it needs."""
        (self.directory / "data").mkdir(parents=True)
        now = datetime.datetime.now(datetime.UTC)
        authority = create_authority(HOST, now)
        server = issue_server(authority, [HOST], now)
        self.authority.write_bytes(authority.certificate)
        (self.directory / "server.pem").write_bytes(server.certificate)
        (self.directory / "server.key").write_bytes(server.key)
        words = {
            "directory": self.directory, "base": BASE, "root": ROOT, "root_password": ROOT_PASSWORD,
            "searcher": SEARCHER, "searcher_password": SEARCHER_PASSWORD,
        }  # fmt: skip
        (self.directory / "slapd.conf").write_text(CONFIGURATION.format(**words))
        data = DATA.format(**words)
        data += "".join(PERSON.format(name=name, password=word, base=BASE) for name, word in self.people.items())
        for name, members in self.groups.items():
            lines = "\n".join(f"member: {dn_of(member)}" for member in members)
            data += GROUP.format(name=name, members=lines, base=BASE)
        self._call(["-T", "add"], data.encode())

    def _call(self, words: list[str], data: bytes = b"") -> None:
        subprocess.run(
            [str(PROGRAM), *words, "-f", str(self.directory / "slapd.conf")], input=data, check=True,
            capture_output=True, timeout=30,
        )  # fmt: skip

    def start(self) -> None:
        """Run it until `stop`; ready when this returns."""
        urls = f"ldap://127.0.0.1:{self.port} ldaps://127.0.0.1:{self.tls_port}"
        words = ["-f", str(self.directory / "slapd.conf"), "-h", urls, "-d", "0"]
        self._process = subprocess.Popen([str(PROGRAM), *words], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 30
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.tls_port), 1).close()
                return
            except ConnectionRefusedError:
                if self._process.poll() is not None or time.monotonic() > deadline:
                    raise AssertionError("slapd did not start") from None
                time.sleep(0.05)

    def stop(self) -> None:
        """End it."""
        if self._process is not None:
            self._process.send_signal(signal.SIGCONT)
            self._process.kill()
            self._process.wait()
            self._process = None

    def hang(self) -> None:
        """From now on it takes connections and says nothing."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        """It answers again."""
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def set_password(self, name: str, password: str) -> None:
        """Give somebody another password."""
        self._modify(dn_of(name), {"userPassword": [(MODIFY_REPLACE, [password])]})

    def set_members(self, group: str, members: list[str]) -> None:
        """Give a group other members."""
        values = [dn_of(member) for member in members]
        self._modify(f"cn={group},ou=groups,{BASE}", {"member": [(MODIFY_REPLACE, values)]})

    def _modify(self, dn: str, changes: dict[str, list[tuple[str, list[str]]]]) -> None:
        server = Server("127.0.0.1", self.tls_port, use_ssl=True)
        connection = Connection(server, ROOT, ROOT_PASSWORD, authentication=SIMPLE)
        if not (connection.bind() and connection.modify(dn, changes)):
            raise LDAPException(str(connection.result))
        connection.unbind()
