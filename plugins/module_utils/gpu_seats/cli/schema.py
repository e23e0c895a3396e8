"""Print the JSON Schema of stack.yml, host and site files, made from the records.

Without a name it prints all three as one JSON object; --write puts them into docs/schema/ of the project.
"""
