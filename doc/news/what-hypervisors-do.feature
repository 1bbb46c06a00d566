``doc/hypervisors.rst`` says what each hypervisor does and why it does not do the rest, as the tests have found it.
