"""Memory for requests that others serve, and prompts sent ahead, over the admin API."""

from typing import Any

import pytest
from aiohttp.test_utils import TestClient

from pointsman.brain.model.commands import Pin, Unpin
from pointsman.brain.model.errors import Conflict
from pointsman.brain.model.node import NodeSpec
from pointsman.brain.model.orders import Instruct, Warm
from pointsman.brain.model.reports import NodeReport

from .conftest import Scene

WISH = {"model": "m", "prompt_tokens": 100, "output_tokens": 60, "ttl_s": 30}


@pytest.fixture
def tight(scene: Scene) -> Scene:
    scene.dispatcher.add_node(NodeSpec(url="http://c", id="c", models=("m",), kv_tokens=1600), 100.0)
    scene.dispatcher.report(NodeReport(node="c", ok=True), 100.0)
    return scene


async def test_memory_is_allocated_renewed_listed_and_released(tight: Scene, client: TestClient[Any, Any]) -> None:
    answer = await client.post("/cache/allocate", json=WISH | {"node": "c"})
    given = await answer.json()
    lease = given.pop("lease")
    assert (answer.status, given) == (
        201, {"node": "c", "url": "http://c", "rank": None, "blocks": 10, "block_tokens": 16, "ttl_s": 30.0},
    )  # fmt: skip
    held = (await (await client.get("/cache/requests")).json())[-1]
    assert (held["request_id"], held["node"], held["blocks"], held["lease_s"]) == (lease, "c", 10, 30.0)
    answer = await client.post("/cache/renew", json={"lease": lease, "ttl_s": 90})
    assert (answer.status, (await answer.json())["ttl_s"]) == (200, 90.0)
    assert (await client.post("/cache/release", json={"lease": lease})).status == 204
    again = await client.post("/cache/release", json={"lease": lease})
    assert (again.status, (await again.json())["error"]["code"]) == (409, "conflict")


@pytest.mark.parametrize(
    ("path", "body", "status", "code", "told"),
    [
        ("allocate", WISH | {"model": "x"}, 404, "model_not_found", "does not exist"),
        ("allocate", WISH | {"node": "zz"}, 404, "not_found", "'zz'"),
        ("allocate", WISH | {"node": "c", "prompt_tokens": 5000}, 503, "no_memory", "5060 tokens"),
        ("allocate", WISH | {"prompt_tokens": 0}, 400, "invalid_request", "prompt_tokens"),
        ("allocate", WISH | {"ttl_s": 0}, 400, "invalid_request", "ttl_s"),
        ("allocate", WISH | {"tokens": 5}, 400, "invalid_request", "a body may have: model, prompt_tokens"),
        ("allocate", {"model": "m"}, 400, "invalid_request", "prompt_tokens"),
        ("release", {"lease": "nobody's"}, 404, "not_found", "never given"),
        ("release", {"lease": 5}, 400, "invalid_request", "lease"),
        ("renew", {"lease": "nobody's"}, 404, "not_found", "never given"),
    ],
)
async def test_what_is_wrong_is_told(
    tight: Scene, client: TestClient[Any, Any], path: str, body: Any, status: int, code: str, told: str
) -> None:
    answer = await client.post("/cache/" + path, json=body)
    error = (await answer.json())["error"]
    assert (answer.status, error["code"]) == (status, code)
    assert told in error["message"]


async def test_a_prompt_is_sent_ahead_as_clients_would_send_it(scene: Scene, client: TestClient[Any, Any]) -> None:
    asked: list[Any] = []

    def warm(path: str, data: bytes, nodes: Any) -> list[Warm]:
        asked.append((path, data, nodes))
        return [Warm(1, 0, NodeSpec(url="http://b", id="b"), 3, 192)]

    scene.services._warm = warm
    request = {"model": "m", "messages": [{"role": "system", "content": "é"}]}
    answer = await client.post("/cache/warm", json={"request": request, "nodes": ["b"]})
    assert (answer.status, await answer.json()) == (202, [{"node": "b", "tokens": 192}])
    data = '{"model":"m","messages":[{"role":"system","content":"é"}]}'.encode()
    assert asked == [("/v1/chat/completions", data, ("b",))]


async def test_a_prompt_is_kept_and_let_go(scene: Scene, client: TestClient[Any, Any]) -> None:
    asked: list[Any] = []

    def pin(path: str, data: bytes, nodes: Any, *, keep: bool) -> list[Instruct]:
        asked.append((path, data, nodes, keep))
        command = Pin((1, 2)) if keep else Unpin((2,))
        return [Instruct(1, NodeSpec(url="http://b", id="b"), (command,))]

    scene.services._pin = pin
    wish = {"request": {"model": "m", "prompt": "a"}, "path": "/v1/completions"}
    for path, keep, links in (("/cache/pin", True, 2), ("/cache/unpin", False, 1)):
        answer = await client.post(path, json=wish)
        assert (answer.status, await answer.json()) == (202, [{"node": "b", "links": links}])
        assert asked[-1] == ("/v1/completions", b'{"model": "m", "prompt": "a"}', (), keep)


@pytest.mark.parametrize("keep", [True, False])
async def test_a_prompt_is_found_however_its_client_writes_it(
    scene: Scene, client: TestClient[Any, Any], keep: bool
) -> None:
    held = b'{"model":"m","prompt":"a"}'

    def pin(path: str, data: bytes, nodes: Any, *, keep: bool) -> list[Instruct]:
        if data != held and keep:
            raise Conflict("no node holds it")
        return [Instruct(1, NodeSpec(url="http://b", id="b"), (Pin((1,)),))] if data == held else []

    scene.services._pin = pin
    path = "/cache/pin" if keep else "/cache/unpin"
    for written, status in (
        (held, 202),
        (b'{"model": "m",  "prompt": "a"}', 202),
        (b'{"prompt":"b"}', 409 if keep else 202),
    ):
        data = b'{"request": ' + written + b', "path": "/v1/completions"}'
        answer = await client.post(path, data=data, headers={"content-type": "application/json"})
        assert answer.status == status
