"""luxid and wconfd in one reactor."""
