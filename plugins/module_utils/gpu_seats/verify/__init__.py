"""Looks at the result with other eyes than those that applied it."""
