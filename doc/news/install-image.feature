An OS that has only ``create_untrusted`` is installed by the instance itself, started from the image that ``gnt-cluster modify --install-image`` names, and
``gnt-backup export --zero-free-space`` has the free space filled with zeros by one started from the zeroing image. ``doc/metadata.rst``
