``gnt-cluster modify --vg-name`` refuses a volume group that a node lacks, or that has less than 20 GiB there.
