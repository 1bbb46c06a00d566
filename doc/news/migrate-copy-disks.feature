``gnt-instance migrate --copy-disks -n NODE`` brings a running instance to another node together with disks that only its node has (KVM).
