Disks and network interfaces of instances under KVM come and go while they run: QEMU is asked what it can do, the guest is
asked to let go, and devices keep their places. What cannot be changed while it runs is refused with the reason. The memory of a
running guest follows its balloon, and a guest that does not obey gets back what it had.
