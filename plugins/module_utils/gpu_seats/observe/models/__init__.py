"""What checkpoints on disk say of themselves: safetensors index and headers, ``config.json``."""
