"""Target side: brings Compose stacks to what was rendered."""
