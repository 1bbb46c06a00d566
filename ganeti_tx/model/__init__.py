"""What a cluster is made of, as frozen typed values; pure."""
