A failover from a dead node says whether the firmware and the TPM of the instance begin with nothing, or with what the new node has from an earlier time.
