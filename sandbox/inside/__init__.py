"""Files that are put into a container beside the tests. They run there, on the project's Python, which may be old."""
