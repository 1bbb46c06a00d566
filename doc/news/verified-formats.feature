``gnt-cluster verify`` asks machines that run as what they read their disks, and tells where that is not the disk's format (KVM).
