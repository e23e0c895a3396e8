"""What the tests of this scenario look with: never the project's own modules."""
