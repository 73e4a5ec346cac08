"""JSON bodies: read or refused, and edited in what an edit declares and nowhere else."""

import json
import sys
from typing import Any

from pointsman.brain.model.errors import BadRequest
from pointsman.wire.decoding import mended
from pointsman.wire.openai.body import output_limit, present, read_body
from pointsman.wire.openai.edits import CONTROL_MEMBERS, asks_for_usage, with_usage, without_control
from pointsman.wire.openai.members import members
from pointsman.wire.openai.prompt import identity, read_prompt
from pointsman.wire.openai.shapes import Body

SEEDS = [
    b'{"model":"m","messages":[{"role":"user","content":"hi"}],"stream":true,"max_tokens":5}',
    b'{"model":"m","prompt":[1,2,3],"n":2,"priority":1,"kv_transfer_params":{"a":[]},"user":"u","stream":false}',
    rb'{ "model" : "m\ud83d", "prompt" : "\u0061\ud83d\ude00", "stream_options" : {"include_usage":false} , "x":1.50 }',
    b'{"model":"m","model":"n","stream_options":null,"cache_salt":"s","tools":[],"system":"x","input":"y"}',
    rb'{"vllm_xargs":{"\"}":1},"pri\u006frity":2,"a":"\\","stream":true,"stream_options":{"continuous_usage_stats":true}}',
    b'{"model":"m","prompt":[[1,2],[3]],"max_tokens":1e400,"max_completion_tokens":-1,"messages":null}',
    b"{}",
]
WORDS = (
    b'"model":', b'"stream":true', b'"stream_options":', b'{"include_usage":true}', b'"priority":1', b'"n":', b"null",
    b'"kv_transfer_params":{}', b'"vllm_xargs":{}', b'"prompt":', b'"messages":', b'"max_tokens":', b"\\ud83d",
    b"\\u0061", b"\\\\", b'\\"', b"[[", b"]]", b"}", b"NaN", b"1e999", b"-0", b"\xef\xbb\xbf", b"\xff",
)  # fmt: skip

if hasattr(sys, "set_int_max_str_digits"):
    sys.set_int_max_str_digits(0)  # the reference shall read every number


def check(data: bytes) -> None:
    try:
        body = read_body(data)
    except BadRequest:
        return
    assert read_prompt(body).size >= 0
    assert identity(body.model or "", body, present(body.cache_salt))
    limit = output_limit(body)
    assert limit is None or limit >= 0
    document = reference(data)
    if document is None:
        return
    if mended(data) is data:
        assert document.get("model") == body.model
    assert document.get("stream") == body.stream
    check_control(data, body, document)
    check_usage(data, body, document)


def reference(data: bytes) -> dict[str, Any] | None:
    """What Python reads, as engines do; None where it is stricter."""
    try:
        document = json.loads(data)
    except UnicodeDecodeError:  # inside a member that is passed on unread
        return None
    assert isinstance(document, dict)
    return document


def check_control(data: bytes, body: Body, document: dict[str, Any]) -> None:
    try:
        edited = without_control(data, body)
    except BadRequest:
        assert repeats_a_name(data)
        return
    wanted = {name: value for name, value in document.items() if name not in CONTROL_MEMBERS}
    assert json.loads(edited) == wanted
    if edited is not data:
        assert spans(edited) == [span for name, span in named(data) if name not in CONTROL_MEMBERS]


def check_usage(data: bytes, body: Body, document: dict[str, Any]) -> None:
    if not body.stream or asks_for_usage(body):
        return
    try:
        edited = with_usage(data, body)
    except BadRequest:
        assert repeats_a_name(data)
        return
    options = (document.get("stream_options") or {}) | {"include_usage": True}
    assert json.loads(edited) == document | {"stream_options": options}
    if not repeats_a_name(data):
        assert spans(edited)[1:] == [span for name, span in named(data) if name != "stream_options"]


def named(data: bytes) -> list[tuple[str, bytes]]:
    return [(member.name, data[member.start : member.end]) for member in members(data)]


def spans(data: bytes) -> list[bytes]:
    return [span for _, span in named(data)]


def repeats_a_name(data: bytes) -> bool:
    """Whether any object in `data` has a name twice."""
    repeated = []

    def pairs(found: list[tuple[str, Any]]) -> dict[str, Any]:
        repeated.append(len({name.encode(errors="replace") for name, _ in found}) < len(found))
        return dict(found)

    json.loads(data, object_pairs_hook=pairs)
    return any(repeated)
