"""gnt-cluster renew-crypto."""

import os
from collections.abc import Iterator, Sequence

from ganeti_tx.cli.bootstrap import run_bootstrap
from ganeti_tx.cli.options import FORCE, VERBOSE, Command, Option, negative
from ganeti_tx.cli.parsing import Parsed, UsageError
from ganeti_tx.cli.prompt import confirm
from ganeti_tx.cli.session import Session
from ganeti_tx.cli.submit import opcode, run_opcode, unless
from ganeti_tx.errors import ExitCode

BEGIN = 'Updating certificates now. Running "gnt-cluster verify"  is recommended after this operation.'
END = 'All requested certificates and keys have been replaced. Running "gnt-cluster verify" now is recommended.'
QUESTION = (
    "Keys and certificates of the whole cluster are going to be replaced. Its nodes go on meanwhile; who trusts the "
    "former ones from outside must be given the new ones.\nContinue?"
)
NOTHING = "no key or certificate was named that is to be replaced; see --help"
#: What is replaced by one that is made, or by one that is in a file.
EITHER = (
    ("new_rapi_cert", "--new-rapi-certificate", "rapi_cert", "--rapi-certificate"),
    ("new_spice_cert", "--new-spice-certificate", "spice_cert", "--spice-certificate"),
    ("new_cluster_domain_secret", "--new-cluster-domain-secret", "cluster_domain_secret", "--cluster-domain-secret"),
)


def renew_crypto(session: Session, options: Parsed, words: Sequence[str]) -> int:
    """Replace what was named, on all nodes; what the job does is said again when it could not."""
    check(options)
    session.print(BEGIN)
    files = dict(replaced_files(options))
    ssh = options.new_ssh_keys
    if not (files or ssh or options.new_cluster_cert or options.new_node_cert or options.new_confd_hmac_key):
        raise UsageError(NOTHING)
    if not options.force:
        confirm(session, QUESTION, "--force")
    if files and (status := run_bootstrap(session, "renew-files", files)) != ExitCode.SUCCESS:
        return status
    op = opcode(
        "OP_CLUSTER_RENEW_CRYPTO",
        node_certificates=unless(False, options.new_node_cert),
        cluster_certificate=unless(False, options.new_cluster_cert),
        confd_hmac_key=unless(False, options.new_confd_hmac_key),
        renew_ssh_keys=unless(False, ssh),
        ssh_key_type=options.ssh_key_type,
        ssh_key_bits=options.ssh_key_bits,
        verbose=unless(False, options.verbose),
    )
    run_opcode(session, options, op)
    session.print(END)
    return ExitCode.SUCCESS


def check(options: Parsed) -> None:
    """@raise UsageError: options that contradict each other, or lack each other."""
    for made, made_flag, given, given_flag in EITHER:
        if getattr(options, made) and getattr(options, given):
            raise UsageError(f"only one of the {made_flag} and {given_flag} options can be specified at the same time")
    if bool(options.spice_cert) != bool(options.spice_cacert):
        raise UsageError("--spice-certificate and --spice-ca-certificate must be given together")
    if (options.ssh_key_type or options.ssh_key_bits is not None) and not options.new_ssh_keys:
        raise UsageError("--ssh-key-type and --ssh-key-bits are about keys that --new-ssh-keys makes")


def replaced_files(options: Parsed) -> Iterator[tuple[str, object]]:
    """What is replaced on this node before it goes to the others: made anew, or taken from files."""
    if options.new_rapi_cert or options.rapi_cert:
        yield "rapi", at(options.rapi_cert)
    if options.new_spice_cert or options.spice_cert:
        yield "spice", at(options.spice_cert)
        yield "spice_authority", at(options.spice_cacert)
    if options.new_cluster_domain_secret or options.cluster_domain_secret:
        yield "domain_secret", at(options.cluster_domain_secret)


def at(path: str | None) -> str:
    """Where the file is, wherever it is read; empty: it is to be made."""
    return os.path.abspath(path) if path else ""


def made(flag: str, dest: str, what: str, default: bool | None = False) -> Option:
    """An option by which something is made anew."""
    return Option((flag,), dest, what, default=default, action="store_true")


def given(flag: str, dest: str, what: str) -> Option:
    """An option by which something is taken from a file."""
    return Option((flag,), dest, what, "string", metavar="FILE")


RENEW_CRYPTO = Command(
    renew_crypto,
    (),
    (
        made("--new-cluster-certificate", "new_cluster_cert", "make a new authority, and all that it signs"),
        made("--new-node-certificates", "new_node_cert", "make new certificates for all nodes"),
        made("--new-rapi-certificate", "new_rapi_cert", "make a new certificate for the Remote API", None),
        given("--rapi-certificate", "rapi_cert", "PEM: the Remote API's certificate and its key"),
        made("--new-spice-certificate", "new_spice_cert", "make a new certificate for SPICE, and who signs it", None),
        given("--spice-certificate", "spice_cert", "PEM: the certificate for SPICE and its key"),
        given("--spice-ca-certificate", "spice_cacert", "PEM: the authority that signed the certificate for SPICE"),
        made("--new-confd-hmac-key", "new_confd_hmac_key", "make a new key for confd"),
        made(
            "--new-cluster-domain-secret", "new_cluster_domain_secret", "make a new secret for moves between clusters"
        ),
        given("--cluster-domain-secret", "cluster_domain_secret", "the secret for moves between clusters"),
        made("--new-ssh-keys", "new_ssh_keys", "make new SSH keys for root of all nodes"),
        Option(("--ssh-key-type",), "ssh_key_type", "of new SSH keys", "choice", choices=("rsa", "dsa", "ecdsa")),
        Option(("--ssh-key-bits",), "ssh_key_bits", "length of new SSH keys", "int"),
        negative("--no-ssh-key-check", "ssh_key_check", "no effect: nothing is done through ssh"),
        FORCE,
        VERBOSE,
    ),
)
