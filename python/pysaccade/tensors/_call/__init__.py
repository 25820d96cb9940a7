"""What a call on tensors is made of: values, storage, gradients, texture units."""
