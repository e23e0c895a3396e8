"""SIMULATOR of `vllm serve`: flags, messages, memory and HTTP answers of one vLLM version, without any model."""
