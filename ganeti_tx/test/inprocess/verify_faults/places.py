"""Where codes of verification are produced besides: by real processes, and on machines with LVM and DRBD."""

from ganeti_tx.model.verify_codes import VerifyCode

#: All but what needs LVM, DRBD or Gluster (test/real/test_verify_codes.py).
DEVCLUSTER = frozenset(VerifyCode) - {
    VerifyCode.EGROUPDIFFERENTPVSIZE,
    VerifyCode.EINSTANCEMISSINGDISK,
    VerifyCode.ENODEDRBDHELPER,
    VerifyCode.ENODEDRBDVERSION,
    VerifyCode.ENODEGLUSTERSTORAGEPATHUNUSABLE,
}
#: What is told on machines (test/lab), by the code's test.
LAB = {
    VerifyCode.EINSTANCEFAULTYDISK: "test_plain_cluster",
    VerifyCode.EINSTANCEMISSINGDISK: "test_plain_cluster",
    VerifyCode.ENODEDRBD: "test_mirrors",
    VerifyCode.ENODELVM: "test_plain_cluster",
    VerifyCode.ENODEORPHANLV: "test_mirrors",
}
