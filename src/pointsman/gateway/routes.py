"""The paths clients may use. What is not here does not exist for them: engines' control paths stay out of reach."""

from collections.abc import Mapping
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

Kind = Literal["chat", "completion", "typed", "json", "form", "plain"]


class Route(msgspec.Struct, frozen=True):
    """A relayed path. `kind` says how its body and its stream are read; `pool` is where a plain route's nodes are.

    - chat, completion: OpenAI generation with a prefix chain, streams of choices;
    - typed: generation whose stream events carry types (responses, messages);
    - json: a JSON body that names a model, one answer;
    - form: multipart, the model is a form field;
    - plain: anything at all, sent to `pool`.
    """

    path: str
    kind: Kind
    pool: str = ""


class PlainRoute(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A path of plain HTTP inference."""

    pool: Annotated[str, Meta(min_length=1, description="the model name its nodes list")]
    policy: Annotated[str, Meta(description="policy for this route; the pool's or the default if empty")] = ""


_KINDS: dict[Kind, tuple[str, ...]] = {
    "chat": ("/v1/chat/completions",),
    "completion": ("/v1/completions",),
    "typed": ("/v1/responses", "/v1/messages"),
    "json": (
        "/v1/embeddings",
        "/v1/rerank",
        "/rerank",
        "/v1/score",
        "/score",
        "/tokenize",
        "/detokenize",
        "/v1/audio/speech",
    ),
    "form": ("/v1/audio/transcriptions", "/v1/audio/translations"),
}


def route_table(plain: Mapping[str, PlainRoute], allow_paths: tuple[str, ...] = ()) -> dict[bytes, Route]:
    """All relayed paths. `allow_paths` are further JSON paths whose body names a model."""
    routes = [Route(path, kind) for kind, paths in _KINDS.items() for path in paths]
    routes += [Route(path, "json") for path in allow_paths]
    routes += [Route(path, "plain", route.pool) for path, route in plain.items()]
    return {route.path.encode(): route for route in routes}
