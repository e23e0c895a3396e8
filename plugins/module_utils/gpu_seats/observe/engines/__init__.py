"""What inference engines log: vLLM and the llama.cpp server."""
