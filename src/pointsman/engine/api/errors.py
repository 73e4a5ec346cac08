"""Errors as vLLM's OpenAI server words them."""

import msgspec


class ApiError(Exception):
    """Ends a request with an OpenAI-shaped error body."""

    def __init__(
        self, message: str, status: int = 400, kind: str = "BadRequestError", param: str | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind
        self.param = param

    def body(self) -> bytes:
        error = {"message": str(self), "type": self.kind, "param": self.param, "code": self.status}
        return msgspec.json.encode({"error": error})


def unknown_model(name: str) -> ApiError:
    return ApiError(f"The model `{name}` does not exist.", 404, "NotFoundError", "model")


def prompt_too_long(limit: int, tokens: int) -> ApiError:
    return ApiError(
        f"This model's maximum context length is {limit} tokens. However, your request has {tokens} input tokens. "
        "Please reduce the length of the input messages.",
        param="input_tokens",
    )


def answer_too_long(limit: int, tokens: int, wanted: int) -> ApiError:
    return ApiError(
        f"'max_tokens' or 'max_completion_tokens' is too large: {wanted}. This model's maximum context length is "
        f"{limit} tokens and your request has {tokens} input tokens ({wanted} > {limit} - {tokens}).",
        param="max_tokens",
    )
