"""Who answers the admin application: one dispatcher's services, or several processes together."""

from typing import Any, Protocol

import msgspec

from pointsman.admin.routes import Call, NotReady, Route
from pointsman.admin.services import Services
from pointsman.brain.model.errors import PointsmanError
from pointsman.brain.policies.registry import UnknownPolicy

FAILURES: dict[type[Exception], tuple[int, str]] = {
    LookupError: (404, "not_found"),
    NotReady: (503, "not_ready"),
    ValueError: (400, "invalid_request"),
    UnknownPolicy: (400, "unknown_policy"),
    msgspec.DecodeError: (400, "invalid_request"),
    msgspec.ValidationError: (400, "invalid_request"),
    RecursionError: (400, "invalid_request"),  # JSON nested too deeply
}
"""What an exception of a handler means, by its exact class: a KeyError is a fault of ours, not a node not found."""


class Failed(Exception):
    """A call failed elsewhere, with this status and code. The text is for people."""

    def __init__(self, text: str, status: int, code: str) -> None:
        super().__init__(text)
        self.status = status
        self.code = code


def failure(error: Exception) -> Failed | None:
    """What an exception of a handler tells whoever asked; None for a fault of ours."""
    if isinstance(error, Failed):
        return error
    if isinstance(error, PointsmanError):
        return Failed(error.message, error.status, error.code)
    meaning = FAILURES.get(type(error))
    return Failed(str(error), *meaning) if meaning else None


class Answers(Protocol):
    """Answers every route of the table."""

    async def answer(self, route: Route, call: Call) -> Any:
        """The route's answer. Raises what `failure` understands."""
        ...

    async def metrics_page(self) -> bytes:
        """The text of a Prometheus scrape."""
        ...


class Local:
    """Answers from the services of this process."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def answer(self, route: Route, call: Call) -> Any:
        return route.handler(self._services, call)

    async def metrics_page(self) -> bytes:
        return self._services.metrics_page()
