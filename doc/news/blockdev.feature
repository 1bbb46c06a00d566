The disk template ``blockdev``: instances on block devices below ``/dev/disk`` that all nodes see.
