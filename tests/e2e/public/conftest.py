"""The gateway's own test bench, for faults that users of other routers met."""

from tests.e2e.gateway.conftest import pytest_asyncio_loop_factories, world

__all__ = ["pytest_asyncio_loop_factories", "world"]
