"""The runners whose results are read, one class each; `sandbox.report` has the table."""
