KVM has parameters of its own, unset unless somebody sets them: ``uefi``, ``secure_boot`` and ``tpm`` (firmware variables and TPM stay with the instance on its node),
``disk_iothread``, ``max_vcpus`` and ``max_memory``, up to which ``gnt-instance modify --hotplug -B vcpus=...,maxmem=...`` works while it runs, and ``cpu_limit``,
``cpu_weight``, ``io_weight`` and ``memory_limit``, by a control group of version 2 or a scope of systemd's. ``doc/kvm-arguments.rst`` shows what QEMU is told by each parameter.
