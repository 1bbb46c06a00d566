"""What requests to the Remote API may say that Ganeti's cannot take, for clients to look for.

Ganeti's own list, /2/features, is as clients know it; these stand in the description of the Remote API, which Ganeti does not have.
"""

#: Where they stand among what the description (OpenAPI) says of itself.
OWN_FEATURES = "x-features"
#: Disks have the key "format".
DISK_FORMATS = "disk-formats"
