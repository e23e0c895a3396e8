"""What is really there: pure parsers from tool output to records, and the one gatherer that runs the tools."""
