"""The engine's fixtures, for measuring with it."""

from tests.sandbox.conftest import engine, sandbox, settings

__all__ = ["engine", "sandbox", "settings"]
