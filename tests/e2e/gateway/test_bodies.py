"""JSON as strangers write it: the right status, never a 500, and the node sees the client's bytes or nothing."""

import asyncio
import json
import time

import pytest

from .conftest import World
from .scripted_upstream import always, respond

GOOD = always(respond(b"{}"))
REST = b',"messages":[{"role":"user","content":"hi"}]}'

PASSES: dict[str, bytes] = {
    "model twice, the last one known": b'{"model":"x","model":"m"' + REST,
    "model by an escaped name": b'{"mod\\u0065l":"m"' + REST,
    "no model, the only one there is": b'{"a":1' + REST,
    "model null": b'{"model":null' + REST,
    "spaces and line ends": b' \r\n\t{ "model" :\n"m"' + REST + b"\n \n",
    "messages null": b'{"model":"m","messages":null}',
    "messages of another type": b'{"model":"m","messages":7}',
    "messages empty": b'{"model":"m","messages":[]}',
    "content null": b'{"model":"m","messages":[{"role":"user","content":null}]}',
    "content in parts": b'{"model":"m","messages":[{"content":[{"type":"text","text":"a"},{"type":"image_url"}]}]}',
    "bytes that are no text": b'{"model":"m","messages":["\xff\xfe"]}',
    "lone surrogates": rb'{"model":"m","messages":["\ud83d","\udc00\ud800x"],"\udfff":1}',
    "a pair of surrogates": rb'{"model":"m","messages":["\ud83d\ude00"]}',
    "NUL, escaped": rb'{"model":"m","messages":["\u0000"]}',
    "unknown members": b'{"model":"m","x":{"y":[{}]},"":0' + REST,
    "odd numbers": b'{"model":"m","temperature":-0.0,"top_p":1e-400,"seed":1E+5' + REST,
    "a number beyond all others": b'{"model":"m","seed":' + b"9" * 5000 + REST,
    "max_tokens below zero": b'{"model":"m","max_tokens":-1' + REST,
    "max_tokens beyond all others": b'{"model":"m","max_tokens":1e300' + REST,
    "max_tokens a float": b'{"model":"m","max_tokens":5.0' + REST,
    "n zero": b'{"model":"m","n":0' + REST,
    "user an object": b'{"model":"m","user":{"a":["b"]}' + REST,
    "user beyond ASCII": '{"model":"m","user":"é\u2028"'.encode() + REST,
    "salt a number": b'{"model":"m","cache_salt":7' + REST,
    "options of another type": b'{"model":"m","stream":true,"stream_options":7' + REST,
    "nested not too deeply": b'{"model":"m","x":' + b"[" * 200 + b"]" * 200 + REST,
    "ten megabytes": b'{"model":"m","messages":["' + b"x" * 10_000_000 + b'"]}',
    "ten megabytes of escapes": b'{"model":"m","messages":["' + b"\\u0041" * 1_700_000 + b'"]}',
    "a hundred thousand members": b'{"model":"m"' + b"".join(b',"%d":0' % i for i in range(100_000)) + REST,
}
UNKNOWN_MODEL: dict[str, bytes] = {
    "model twice, the first one known": b'{"model":"m","model":"x"' + REST,
    "model empty": b'{"model":""' + REST,
    "model with a space": b'{"model":"m "' + REST,
    "model in capitals": b'{"model":"M"' + REST,
    "model with NUL": rb'{"model":"m\u0000"' + REST,
    "model with a lone surrogate": rb'{"model":"m\ud83d"' + REST,
    "model of a megabyte": b'{"model":"' + b"m" * 1_000_000 + b'"' + REST,
    "model that looks like a path": b'{"model":"../m"' + REST,
}
REFUSED: dict[str, bytes] = {
    "nothing": b"",
    "spaces": b"  \n",
    "a list": b"[]",
    "a string": b'"m"',
    "null": b"null",
    "a number": b"7",
    "half an object": b'{"model":"m"',
    "two objects": b'{"model":"m"}{"model":"m"}',
    "an object and more": b'{"model":"m"}x',
    "an object and NUL": b'{"model":"m"}\0',
    "a comma too many": b'{"model":"m",}',
    "a comment": b'{"model":"m"/**/}',
    "single quotes": b"{'model':'m'}",
    "a name without quotes": b'{model:"m"}',
    "NaN": b'{"model":"m","temperature":NaN' + REST,
    "infinity": b'{"model":"m","temperature":-Infinity' + REST,
    "a leading zero": b'{"model":"m","seed":01' + REST,
    "a number in hex": b'{"model":"m","seed":0x1' + REST,
    "a plus": b'{"model":"m","seed":+1' + REST,
    "a line end in a string": b'{"model":"m\n"' + REST,
    "an unknown escape": b'{"model":"\\m"' + REST,
    "a model that is no text": b'{"model":"m\xff"' + REST,
    "an overlong letter": b'{"model":"\xc1\xad"' + REST,
    "a surrogate in UTF-8": b'{"model":"\xed\xa0\x80"' + REST,
    "a byte order mark": b'\xef\xbb\xbf{"model":"m"' + REST,
    "UTF-16": ('{"model":"m"' + REST.decode()).encode("utf-16"),
    "UTF-16 without a mark": ('{"model":"m"' + REST.decode()).encode("utf-16-le"),
    "UTF-32": ('{"model":"m"' + REST.decode()).encode("utf-32"),
    "model a number": b'{"model":7' + REST,
    "model a list": b'{"model":["m"]' + REST,
    "model an object": b'{"model":{"m":1}' + REST,
    "model a boolean": b'{"model":true' + REST,
    "stream a string": b'{"model":"m","stream":"true"' + REST,
    "stream a number": b'{"model":"m","stream":1' + REST,
    "n a string": b'{"model":"m","n":"2"' + REST,
    "n a float": b'{"model":"m","n":1.5' + REST,
    "max_tokens a string": b'{"model":"m","max_tokens":"5"' + REST,
    "max_tokens a list": b'{"model":"m","max_tokens":[5]' + REST,
    "a response to go on with": b'{"model":"m","previous_response_id":"r"' + REST,
    "a control member twice": b'{"model":"m","priority":1,"priority":2' + REST,
    "another member twice, beside a control member": b'{"a":1,"a":"\\\\","model":"m","priority":2' + REST,
    "another member twice, beside options to edit": b'{"a":1,"a":"\\\\","stream":true,"stream_options":{}' + REST,
    "nested too deeply": b'{"model":"m","x":' + b"[" * 100_000 + REST,
}


@pytest.mark.parametrize(
    ("bodies", "status", "code"), [(PASSES, 200, None), (UNKNOWN_MODEL, 404, "model_not_found"), (REFUSED, 400, None)]
)
async def test_statuses(world: World, bodies: dict[str, bytes], status: int, code: str | None) -> None:
    await world.open(GOOD)
    client = await world.client()
    got = {}
    for name, body in bodies.items():
        response = await client.ask(body)
        got[name] = (response.status, response.json().get("error", {}).get("code") if code else None)
        assert len(response.body) < 1000
    assert {name: found for name, found in got.items() if found != (status, code)} == {}
    assert [request.body for request in world.nodes[0].requests] == (list(bodies.values()) if status == 200 else [])
    await world.at_rest()


@pytest.mark.parametrize("path", ["/v1/completions", "/v1/responses", "/v1/messages", "/v1/embeddings", "/tokenize"])
async def test_no_path_stumbles(world: World, path: str) -> None:
    await world.open(GOOD)
    client = await world.client()
    for bodies, statuses in ((PASSES, {200}), (UNKNOWN_MODEL, {404}), (REFUSED, {200, 400})):
        found = {
            name: (await client.ask(body, path=path)).status for name, body in bodies.items() if len(body) < 10_000
        }
        assert {name: status for name, status in found.items() if status not in statuses} == {}
    await world.at_rest()


PROMPTS = (
    b"null", b"[]", b"[[]]", b"[null]", b'[""]', b"[1]", b"[[1],[2]]", b"[1.5]", b"[true]", b"{}", b"7", b'[1,"a"]',
    b"[-1]", b"[[-1]]", b"[9223372036854775808]", b"[1e3]", b'["\\ud83d"]', b"[4294967296]",
)  # fmt: skip


async def test_prompts_of_any_kind(world: World) -> None:
    await world.open(GOOD)
    client = await world.client()
    for prompt in PROMPTS:
        response = await client.ask(b'{"model":"m","prompt":%b}' % prompt, path="/v1/completions")
        assert (prompt, response.status) == (prompt, 400 if b"-1" in prompt else 200)


async def test_what_an_edit_leaves_is_the_clients(world: World) -> None:
    await world.open(GOOD)
    client = await world.client()
    for name, body in PASSES.items():
        if len(body) > 100_000 or name == "model twice, the last one known":
            continue
        await client.ask(body.replace(b"{", b'{"priority":5,', 1))
        sent = world.nodes[0].requests[-1].body
        assert plain(sent) == plain(body), name


LARGE: dict[str, tuple[bytes, int]] = {
    "lone surrogates": (b'{"model":"m","priority":1,"messages":["' + b"\\ud83d" * 8_000_000 + b'"]}', 400),
    "spaces": (b'{"model":"m","priority":1' + b" " * 50_000_000 + b"}", 200),
    "text": (b'{"model":"m","priority":1,"messages":["' + b"x" * 50_000_000 + b'"]}', 200),
    "lists": (b'{"model":"m","priority":1,"messages":[' + b"[]," * 15_000_000 + b"[]]}", 200),
}


@pytest.mark.parametrize("name", LARGE)
async def test_a_large_body_holds_up_nobody_for_long(world: World, name: str) -> None:
    await world.open(GOOD)
    body, status = LARGE[name]
    client = await world.client()
    asking = asyncio.ensure_future(client.ask(body))
    longest = 0.0  # seconds of this process's own work: other work of the machine does not count
    while not asking.done():
        before = time.process_time()
        await asyncio.sleep(0.005)
        longest = max(longest, time.process_time() - before)
    assert asking.result().status == status
    assert longest < 2.0  # mostly of the test's own client and node, which share the loop


def plain(body: bytes) -> object:
    return json.loads(body.decode(errors="replace"), parse_int=str)
