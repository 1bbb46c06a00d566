"""The secret of the cluster domain, as the master has it."""

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.model.remote_moves import DomainSecret
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.files_errors import reason
from ganeti_tx.runtime.paths import Paths

#: Bytes of the file.
MOST = 64 * 1024


def domain_secret(files: IFiles, paths: Paths) -> DomainSecret:
    """@raise OpPrereqError: there is none that can be read."""
    path = paths.cluster_domain_secret
    try:
        text = files.read(path, MOST).decode().strip()
    except OSError as error:
        raise unusable(f"{path} cannot be read: {reason(error)}") from None
    except ValueError:
        raise unusable(f"{path} is no text") from None
    if not text:
        raise unusable(f"{path} is empty")
    return DomainSecret(text)


def unusable(why: str) -> OpPrereqError:
    """What can be done is told."""
    return OpPrereqError(
        f"the cluster domain secret {why}; 'gnt-cluster renew-crypto --new-cluster-domain-secret' makes one",
        ECode.ENVIRON,
    )
