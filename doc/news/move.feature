"gnt-instance move" copies an instance's disks to another node, over mutual TLS and packed on request, and starts it there. Until
all is copied a failure, a cancellation or the death of any process starts it where it was.
