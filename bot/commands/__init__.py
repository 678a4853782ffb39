"""The command line's larger commands, one module each."""
