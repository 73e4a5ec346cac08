"""The canonical bytes of a prompt: what an engine's chat template will turn into tokens, in its order.

Turn n+1 of a conversation must extend turn n's bytes, so that both share a prefix chain: tools first, then the messages
as the client wrote them, without the bracket that closes their list. What selects another cache altogether (model,
adapter, salt) enters the chain's seed instead.
"""

import msgspec

from pointsman.wire.decoding import decoder
from pointsman.wire.openai.body import present
from pointsman.wire.openai.shapes import Body, Prompt

_decode_ids = decoder(list[int])
_decode_lists = decoder(list[list[int]])


def read_prompt(body: Body) -> Prompt:
    """The prompt of a chat, completion, response, message or embedding body."""
    messages = present(body.messages)
    if messages:
        return _of_bytes(preamble(body) + messages[:-1])
    prompt = present(body.prompt)
    if prompt:
        return _of_completion(prompt)
    return _of_bytes(preamble(body) + present(body.input)[:-1])


def identity(model: str, body: Body, salt: bytes) -> bytes:
    """What separates caches: the model (or adapter) and the salt; SGLang knows both by further names."""
    name = model.encode(errors="surrogatepass")
    if not (body.lora_path or body.extra_key):
        return b"%b\0%b\0\0" % (name, salt)
    return b"%b\0%b\0%b\0%b" % (name, salt, present(body.lora_path), present(body.extra_key))


def preamble(body: Body) -> bytes:
    """What comes before the messages: tools and whatever else a chat template puts in front."""
    if not (body.tools or body.system or body.instructions or body.chat_template_kwargs):
        return b""
    parts = (body.chat_template_kwargs, body.tools, body.system, body.instructions)
    return b"\0".join(present(part) for part in parts) + b"\0"


def _of_bytes(data: bytes) -> Prompt:
    return Prompt(data=data, size=len(data))


def _of_completion(prompt: bytes) -> Prompt:
    if prompt.startswith(b'"'):
        return _of_bytes(prompt[:-1])
    ids = _token_ids(prompt)
    return _of_bytes(prompt[:-1]) if ids is None else Prompt(token_ids=ids, size=len(ids))


def _token_ids(prompt: bytes) -> list[int] | None:
    """The ids of `[1, 2]` or `[[1, 2]]`; None for text or several prompts."""
    try:
        return _decode_ids(prompt)
    except msgspec.DecodeError:
        pass
    try:
        lists = _decode_lists(prompt)
    except msgspec.DecodeError:
        return None
    return lists[0] if len(lists) == 1 else None
