What an instance leaves that ends by itself (its guest powers off, QEMU dies) is removed at once by the node daemon: taps, sockets, files and the user id of the
pool. A guest that QEMU has stopped after an error (KVM's internal error, a disk that cannot be written, a guest that panicked) has the status ``ERROR_halted``;
``gnt-instance info`` and ``gnt-cluster verify`` say which error, and ``gnt-instance startup`` starts it anew.
