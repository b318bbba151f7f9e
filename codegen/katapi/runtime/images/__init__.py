"""Images: from the part of a request that carries one to what stands for it among the ids, and its tensors."""
