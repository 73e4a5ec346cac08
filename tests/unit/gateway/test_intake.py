"""From bodies to requests the brain can place."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointsman.brain.model.errors import BadRequest, ClientError, ModelNotFound, NoNode, UnsupportedCoding
from pointsman.clock import ManualClock
from pointsman.gateway.intake import Intake
from pointsman.gateway.routes import PlainRoute, route_table
from pointsman.gateway.settings import Timeouts
from pointsman.gateway.work import Work
from pointsman.wire.http1.messages import RequestHead

ROUTES = route_table({"/classify": PlainRoute(pool="vision")})


class Brain:
    """Knows models, and no more."""

    def __init__(self, *models: str) -> None:
        self._models = list(models)

    def models(self) -> list[str]:
        return self._models

    def standing(self) -> str:
        return "1 joining"

    def knows(self, model: str) -> bool:
        return model in self._models


def work(body: Any, path: str = "/v1/chat/completions", models: tuple[str, ...] = ("m",), **fields: str) -> Work:
    named = {name.replace("_", "-").encode(): value.encode() for name, value in fields.items()}
    head = RequestHead(
        method=b"POST",
        target=path.encode(),
        path=path.encode(),
        fields=named,
        keep_alive=True,
        modern=True,
        onward=b"",
        expects_continue=False,
    )
    brain: Any = Brain(*models)
    intake = Intake(brain, ManualClock(100.0), Timeouts(), b"secret")
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return intake.work(ROUTES[path.encode()], head, data, "t")


def test_a_pool_of_plain_inference_is_no_model() -> None:
    brain: Any = Brain("images", "m")
    intake = Intake(brain, ManualClock(100.0), Timeouts(), b"secret", frozenset({"images"}))
    assert intake.models() == ["m"]
    assert intake._model(None) == "m"
    with pytest.raises(ModelNotFound):
        intake._model("images")


CHAT: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "x" * 2000}]}


def test_request() -> None:
    made = work(CHAT | {"user": "u", "max_tokens": 5, "n": 3, "stream": True}, x_request_id="id-1")
    request = made.request
    assert (request.id, made.id) == ("id-1", b"id-1")
    assert (request.model, request.session, request.tenant, request.route) == ("m", "u", "t", "/v1/chat/completions")
    assert (request.max_tokens, request.stream, made.choices, made.strip_usage) == (5, True, 3, True)
    assert made.expires == 3700.0
    assert request.chain is not None
    assert len(request.chain.links) == request.prompt_bytes // 256 > 0


def test_chains_meet_only_where_caches_do() -> None:
    def first_link(**more: Any) -> int:
        chain = work(CHAT | more, models=("m", "lora")).request.chain
        assert chain is not None
        return chain.links[0]

    assert first_link() == first_link(temperature=0.5)
    assert len({first_link(), first_link(model="lora"), first_link(cache_salt="s"), first_link(tools=[{}])}) == 4


def test_token_ids() -> None:
    made = work({"model": "m", "prompt": list(range(40))}, "/v1/completions")
    chain = made.request.chain
    assert chain is not None
    assert (chain.kind, len(chain.links), made.request.prompt_tokens) == ("tokens", 2, 40.0)
    with pytest.raises(BadRequest):
        work({"model": "m", "prompt": [-1] * 40}, "/v1/completions")


anything = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.lists(st.integers(), max_size=3)
MEMBERS = [
    *("stream", "max_tokens", "max_completion_tokens", "max_output_tokens", "n", "user", "messages", "prompt", "input"),
    *("system", "tools", "stream_options", "cache_salt", "kv_transfer_params", "priority", "chat_template_kwargs"),
]


@given(st.dictionaries(st.sampled_from(MEMBERS), anything), st.sampled_from(sorted(ROUTES)))
def test_any_values_make_work_or_a_client_error(members: dict[str, Any], path: bytes) -> None:
    try:
        made = work(members | {"model": "m"}, path.decode(), models=("m", "vision"))
    except ClientError:
        return
    assert made.request.prompt_bytes >= 0
    assert made.choices >= 1


@pytest.mark.parametrize("number", ["1e400", "-1e400", "1e308", "123456789012345678901234567890", "-1", "0", "1.5"])
def test_odd_numbers(number: str) -> None:
    for member in ("max_tokens", "n"):
        try:
            made = work(f'{{"model":"m","messages":[],"{member}":{number}}}'.encode())
        except ClientError:
            continue
        assert made.choices >= 1
        assert made.request.max_tokens is None or made.request.max_tokens >= 0


def test_paths_that_generate_nothing_have_no_chain() -> None:
    made = work({"model": "m", "input": "x" * 1000}, "/v1/embeddings")
    assert made.request.chain is None
    assert not made.strip_usage


def test_models() -> None:
    with pytest.raises(ModelNotFound):
        work({"model": "x"})
    with pytest.raises(NoNode):
        work(CHAT, models=())
    with pytest.raises(BadRequest):
        work({"messages": []}, models=("a", "b"))
    assert work({"messages": []}).request.model == "m"


def test_plain_pools() -> None:
    made = work(b"\xff\xd8", "/classify", models=("vision",))
    assert (made.request.model, made.body) == ("vision", b"\xff\xd8")
    with pytest.raises(NoNode):
        work(b"", "/classify")


@pytest.mark.parametrize("given", ["", "a b", "x" * 129, "a\tb", "ä", "a;b"])
def test_ids_that_are_not_well_formed_are_replaced(given: str) -> None:
    made = work(CHAT, x_request_id=given)
    assert made.id.startswith(b"req-")


def test_the_clients_limit() -> None:
    assert work(CHAT, x_request_timeout_ms="1500").expires == 101.5
    for wrong in ("0", "-1", "x", "1.5", "9" * 5000):
        with pytest.raises(BadRequest):
            work(CHAT, x_request_timeout_ms=wrong)


def test_a_body_that_is_compressed_or_says_so_reaches_no_node() -> None:
    body = {"model": "m", "messages": []}
    assert work(body, content_encoding="Identity").request.model == "m"
    for coding in ("gzip", "br, gzip", ""):
        with pytest.raises(UnsupportedCoding) as error:
            work(body, content_encoding=coding)
        assert error.value.status == 415
    assert work(b"\x1f\x8b", "/classify", ("vision",), content_encoding="gzip").body == b"\x1f\x8b"


def test_only_who_wants_a_stream_can_be_told_where_it_stands() -> None:
    asks = {"x_pointsman_progress": "1"}
    assert work({"model": "m", "messages": [], "stream": True}, **asks).tells_progress
    assert not work({"model": "m", "messages": []}, **asks).tells_progress
    assert not work({"model": "m", "messages": [], "stream": True}).tells_progress
    assert not work({"model": "m", "input": "x", "stream": True}, path="/v1/embeddings", **asks).tells_progress
    with pytest.raises(BadRequest, match="x-pointsman-progress"):
        work({"model": "m", "messages": [], "stream": True}, x_pointsman_progress="on")
