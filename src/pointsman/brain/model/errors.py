"""The one tree of errors a client or an operator can meet.

PointsmanError
├── ClientError            the request itself is at fault (4xx)
│   ├── BadRequest         400 invalid_request_error
│   ├── Unauthorized       401 invalid_api_key
│   ├── NotFound           404 not_found
│   │   └── ModelNotFound  404 model_not_found
│   ├── MethodNotAllowed   405 method_not_allowed
│   ├── RequestTimeout     408 request_timeout
│   ├── Conflict           409 conflict
│   ├── BodyTooLarge       413 request_too_large
│   ├── UnsupportedCoding  415 unsupported_content_encoding
│   ├── TooManyRequests    429 rate_limit_exceeded (Retry-After)
│   └── HeadTooLarge       431 headers_too_large
├── Overloaded             the fleet cannot take it now (503, Retry-After)
│   ├── QueueFull          503 queue_full
│   ├── QueueTimeout       503 queue_timeout
│   ├── TooLate            503 deadline_unreachable
│   ├── NoNode             503 no_node_available
│   ├── NoMemory           503 no_memory: no node has the KV memory free that an outsider asks for
│   └── Stopping           503 shutting_down
├── PolicyFailed           500 policy_failed: a policy raised; its own fault, and this request's alone
└── UpstreamError          a node failed (5xx)
    ├── NodeFailed         502 node_failed
    └── NodeTimeout        504 node_timeout
"""

from collections.abc import Sequence

NAME_SHOWN = 200
"""Characters of a client's own words that an error repeats."""
MODELS_SHOWN = 20
"""Models that are named to a client who asked for another."""


class PointsmanError(Exception):
    """Base of all. `status` is the HTTP status, `code` the `error.code`, `kind` the `error.type` of OpenAI's shape."""

    status = 500
    code = "internal_error"
    kind = "server_error"
    retry_after_s: float | None = None

    def __init__(self, message: str, *, param: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.param = param


class ClientError(PointsmanError):
    status = 400
    code = "invalid_request_error"
    kind = "invalid_request_error"


class BadRequest(ClientError): ...


class Unauthorized(ClientError):
    status = 401
    code = "invalid_api_key"


class NotFound(ClientError):
    status = 404
    code = "not_found"


class ModelNotFound(NotFound):
    code = "model_not_found"

    def __init__(self, model: str, served: Sequence[str] = ()) -> None:
        names = ", ".join(served[:MODELS_SHOWN]) + (" and more" if len(served) > MODELS_SHOWN else "")
        told = f" Served are: {names}." if served else ""
        super().__init__(f"The model `{model[:NAME_SHOWN]}` does not exist.{told}", param="model")


class MethodNotAllowed(ClientError):
    """`allowed` are the methods the path takes."""

    status = 405
    code = "method_not_allowed"

    def __init__(self, message: str, *, param: str | None = None, allowed: Sequence[str] = ()) -> None:
        super().__init__(message, param=param)
        self.allowed = tuple(allowed)


class RequestTimeout(ClientError):
    status = 408
    code = "request_timeout"


class Conflict(ClientError):
    status = 409
    code = "conflict"


class BodyTooLarge(ClientError):
    status = 413
    code = "request_too_large"


class UnsupportedCoding(ClientError):
    """The body is compressed: what is not read cannot be directed."""

    status = 415
    code = "unsupported_content_encoding"


class TooManyRequests(ClientError):
    """The tenant has used up what it may do; try again after `retry_after_s` seconds."""

    status = 429
    code = "rate_limit_exceeded"
    kind = "rate_limit_error"

    def __init__(self, message: str, *, param: str | None = None, retry_after_s: float = 1.0) -> None:
        super().__init__(message, param=param)
        self.retry_after_s = retry_after_s


class HeadTooLarge(ClientError):
    status = 431
    code = "headers_too_large"


class Overloaded(PointsmanError):
    """The request is fine; try again after `retry_after_s` seconds."""

    status = 503
    code = "overloaded"
    kind = "overloaded_error"
    retry_after_s = 1.0


class QueueFull(Overloaded):
    code = "queue_full"


class QueueTimeout(Overloaded):
    code = "queue_timeout"


class TooLate(Overloaded):
    """The first token would come after the client's own deadline; `retry_after_s` is how long a place takes now."""

    code = "deadline_unreachable"

    def __init__(self, message: str, *, param: str | None = None, retry_after_s: float = 1.0) -> None:
        super().__init__(message, param=param)
        self.retry_after_s = retry_after_s


class NoNode(Overloaded):
    code = "no_node_available"


class NoMemory(Overloaded):
    code = "no_memory"


class Stopping(Overloaded):
    code = "shutting_down"


class PolicyFailed(PointsmanError):
    code = "policy_failed"


class UpstreamError(PointsmanError):
    status = 502
    code = "upstream_error"
    kind = "upstream_error"


class NodeFailed(UpstreamError):
    code = "node_failed"


class NodeTimeout(UpstreamError):
    status = 504
    code = "node_timeout"
