"""OpenAI-style HTTP answers of the lab's engine SIMULATORS. Every text says that no model wrote it."""
