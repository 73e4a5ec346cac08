"""Record what a running vLLM really sends: ``record.py URL EVENTS_PORT FOLDER``.

Every HTTP exchange becomes one file ``NAME.http``: the response exactly as it came off the socket (status line,
headers, chunked framing). ``index.json`` names the request that caused each. ``kv_events.jsonl`` holds the ZMQ frames
of the KV-cache events published meanwhile. Parsers are tested against these bytes, cut at every offset.

The engine is expected to be the tiny model with few blocks (``scripts/engines record`` starts it so): the last
exchanges then evict the blocks of the first, and the events show it.
"""

import json
import socket
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import zmq

RECEIVE_SECONDS = 30.0
EVENTS_SILENCE_MS = 1500
LOADED_REQUESTS = 8
LOADED_SECONDS = 0.5  # long enough to be running, far less than the 900 tokens take
TURN_1 = [{"role": "user", "content": "Where does a train of thought go, and who sets the points before it arrives?"}]
TURN_2 = [*TURN_1, {"role": "assistant", "content": "To its wagons."}, {"role": "user", "content": "And the signal?"}]
WITH_USAGE = {"stream": True, "stream_options": {"include_usage": True}}


def chat(messages: list[dict[str, str]], **fields: Any) -> tuple[str, dict[str, Any]]:
    """Return path and body of a deterministic chat request."""
    return "/v1/chat/completions", {"model": "tiny", "messages": messages, "temperature": 0, "max_tokens": 12, **fields}


def completion(prompt: str, **fields: Any) -> tuple[str, dict[str, Any]]:
    """Return path and body of a deterministic text completion request."""
    return "/v1/completions", {"model": "tiny", "prompt": prompt, "temperature": 0, "max_tokens": 12, **fields}


def fillers(count: int) -> dict[str, tuple[str, dict[str, Any]]]:
    """Return prompts that share nothing and together overflow the cache (not kept as fixtures)."""
    return {f"_filler_{n}": completion(f"{n} " * 200, max_tokens=1) for n in range(count)}


EXCHANGES: dict[str, tuple[str, dict[str, Any] | None]] = {
    "models": ("/v1/models", None),
    "metrics_idle": ("/metrics", None),
    "chat_plain": chat(TURN_1),
    "chat_stream": chat(TURN_1, stream=True),
    "chat_stream_usage": chat(TURN_1, **WITH_USAGE),
    "chat_stream_usage_turn_2": chat(TURN_2, **WITH_USAGE),
    "chat_stream_continuous_usage": chat(
        TURN_1, stream=True, stream_options={"include_usage": True, "continuous_usage_stats": True}
    ),
    "chat_stream_token_ids": chat(TURN_1, return_token_ids=True, **WITH_USAGE),
    "chat_stream_n2": chat(TURN_1, n=2, seed=1, **{**WITH_USAGE, "temperature": 1}),
    "chat_stream_logprobs": chat(TURN_1, logprobs=True, top_logprobs=2, **{**WITH_USAGE, "max_tokens": 4}),
    "completion_plain": completion("The pointsman sets"),
    "completion_stream_usage": completion("The pointsman sets", **WITH_USAGE),
    "completion_stream_token_ids": completion("The pointsman sets", return_token_ids=True, **WITH_USAGE),
    "completion_stream_n2": completion("The pointsman sets", n=2, seed=1, **{**WITH_USAGE, "temperature": 1}),
    "responses_stream": ("/v1/responses", {"model": "tiny", "input": "Hi", "max_output_tokens": 4, "stream": True}),
    "messages_stream": ("/v1/messages", {"model": "tiny", "messages": TURN_1, "max_tokens": 4, "stream": True}),
    "tokenize": ("/tokenize", {"model": "tiny", "messages": TURN_1}),
    "error_unknown_model": chat(TURN_1, model="nope"),
    "error_unknown_model_stream": chat(TURN_1, model="nope", stream=True),
    "error_prompt_too_long": completion("abc " * 800),
    "error_max_tokens": chat(TURN_1, max_tokens=100_000),
    "error_no_prompt": ("/v1/completions", {"model": "tiny"}),
    "error_unknown_path": ("/v1/nothing", {}),
    **fillers(8),
    "metrics_busy_cache": ("/metrics", None),
    "reset_prefix_cache": ("/reset_prefix_cache", {}),
    "_flush": completion("Events travel with the next step.", max_tokens=1),
}


def request_bytes(host: str, port: int, path: str, body: dict[str, Any] | None) -> bytes:
    """Return one whole request; the connection is to be closed after it."""
    data = b"" if body is None else json.dumps(body).encode()
    method = "GET" if body is None else "POST"
    head = (
        f"{method} {path} HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\nX-Request-Id: recorded\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n"
    )
    return head.encode() + data


def exchange(host: str, port: int, path: str, body: dict[str, Any] | None) -> bytes:
    """Send one request on a connection of its own and return every byte of the response."""
    with socket.create_connection((host, port), timeout=RECEIVE_SECONDS) as connection:
        connection.sendall(request_bytes(host, port, path, body))
        return b"".join(iter(lambda: connection.recv(65536), b""))


def record_under_load(host: str, port: int, folder: Path) -> None:
    """Write ``metrics_loaded`` and ``load_loaded``, taken while more requests are open than the cache has room for."""
    path, body = completion("Round and round", max_tokens=900, ignore_eos=True, stream=True)
    with ExitStack() as stack:
        for _ in range(LOADED_REQUESTS):
            connection = stack.enter_context(socket.create_connection((host, port)))
            connection.sendall(request_bytes(host, port, path, body))
        time.sleep(LOADED_SECONDS)
        for name in ("metrics", "load"):
            (folder / f"{name}_loaded.http").write_bytes(exchange(host, port, f"/{name}", None))


def record_exchanges(host: str, port: int, folder: Path) -> None:
    """Write the ``.http`` files and ``index.json``; names with a leading underscore are sent but not kept."""
    index = {}
    for name, (path, body) in EXCHANGES.items():
        response = exchange(host, port, path, body)
        if not name.startswith("_"):
            (folder / f"{name}.http").write_bytes(response)
            index[name] = {"path": path, "request": body}
    (folder / "index.json").write_text(json.dumps(index, indent=1) + "\n")


def drain_events(subscriber: zmq.Socket, file: Path) -> None:
    """Write every waiting event batch as a line of JSON: topic, sequence and the msgpack payload in hex."""
    with file.open("w") as lines:
        while subscriber.poll(EVENTS_SILENCE_MS):
            topic, sequence, payload = subscriber.recv_multipart()
            row = {"topic": topic.decode(), "sequence": int.from_bytes(sequence, "big"), "payload": payload.hex()}
            lines.write(json.dumps(row) + "\n")


def main(url: str, events_port: int, folder: Path) -> None:
    """Record all exchanges, then the events they caused."""
    folder.mkdir(parents=True, exist_ok=True)
    address = urlsplit(url)
    assert address.hostname
    assert address.port
    with zmq.Context() as context, context.socket(zmq.SUB) as subscriber:
        subscriber.connect(f"tcp://127.0.0.1:{events_port}")
        subscriber.subscribe(b"")
        assert not subscriber.poll(EVENTS_SILENCE_MS), "the engine is not idle"
        record_exchanges(address.hostname, address.port, folder)
        drain_events(subscriber, folder / "kv_events.jsonl")
        record_under_load(address.hostname, address.port, folder)
    print(f"recorded {len(list(folder.glob('*.http')))} exchanges in {folder}")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]))
