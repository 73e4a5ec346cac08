"""Response bodies: server-sent events and whole answers, in the shapes vLLM gives them."""

from typing import Any

import msgspec

from pointsman.engine.api.choice import Choice

DONE = b"data: [DONE]\n\n"
_encode = msgspec.json.encode


def event(document: dict[str, Any]) -> bytes:
    return b"data: " + _encode(document) + b"\n\n"


def usage(prompt_tokens: int, completion_tokens: int, cached_tokens: int) -> dict[str, Any]:
    return {
        "prompt_tokens": prompt_tokens,
        "total_tokens": prompt_tokens + completion_tokens,
        "completion_tokens": completion_tokens,
        "prompt_tokens_details": {"cached_tokens": cached_tokens},
    }


class Bodies:
    """Bodies of one request. `prompt_ids`, one list per prompt, is given if the client asked for token ids."""

    def __init__(
        self, answer_id: str, created: int, model: str, chat: bool, prompt_ids: list[list[int]] | None
    ) -> None:
        self._chat = chat
        self._prompt_ids = prompt_ids
        kind = "chat.completion" if chat else "text_completion"
        self._head: dict[str, Any] = {"id": answer_id, "object": kind, "created": created, "model": model}
        self._chunk_head = {**self._head, "object": "chat.completion.chunk"} if chat else self._head
        self._before = b"data: " + _encode(self._chunk_head)[:-1] + b',"choices":[{"index":'
        self._middle = b',"delta":{"content":' if chat else b',"text":'
        self._after = (b"}" if chat else b"") + b',"logprobs":null,"finish_reason":null}]}\n\n'

    def role(self, choice: Choice) -> bytes:
        """The event that opens a chat answer; empty for completions."""
        if not self._chat:
            return b""
        delta = {"role": "assistant", "content": ""}
        document = {**self._chunk_head, "choices": [_stream_choice(choice.index, {"delta": delta}, None)]}
        if self._prompt_ids is not None:
            document["prompt_token_ids"] = self._prompt_ids[0]
        return event(document)

    def delta(self, choice: Choice, choices_per_prompt: int) -> bytes:
        """The event with what a choice has written since its last one, and its end if it has ended."""
        text = choice.take_text()
        if self._prompt_ids is None and choice.finish_reason is None:
            return b"%b%d%b%b%b" % (self._before, choice.index, self._middle, _encode(text), self._after)
        part: dict[str, Any] = {"delta": {"content": text}} if self._chat else {"text": text}
        document = _stream_choice(choice.index, part, choice)
        if self._prompt_ids is not None:
            document["token_ids"] = choice.take_ids()
            if not self._chat and choice.sent_tokens == 0:
                document["prompt_token_ids"] = self._prompt_ids[choice.index // choices_per_prompt]
        return event({**self._chunk_head, "choices": [document]})

    def final_usage(self, counts: dict[str, Any]) -> bytes:
        return event({**self._chunk_head, "choices": [], "usage": counts})

    def whole(self, choices: list[Choice], choices_per_prompt: int, counts: dict[str, Any]) -> bytes:
        """The body of an answer that is not streamed."""
        document = {**self._head, "choices": [self._whole_choice(choice, choices_per_prompt) for choice in choices]}
        document["usage"] = counts
        if self._chat and self._prompt_ids is not None:
            document["prompt_token_ids"] = self._prompt_ids[0]
        return _encode(document)

    def _whole_choice(self, choice: Choice, choices_per_prompt: int) -> dict[str, Any]:
        text = choice.take_text()
        message: dict[str, Any] = {"role": "assistant", "content": text, "refusal": None, "tool_calls": []}
        part: dict[str, Any] = {"message": message} if self._chat else {"text": text}
        document = _stream_choice(choice.index, part, choice)
        if self._prompt_ids is not None:
            document["token_ids"] = choice.take_ids()
            if not self._chat:
                document["prompt_token_ids"] = self._prompt_ids[choice.index // choices_per_prompt]
        return document


def _stream_choice(index: int, part: dict[str, Any], choice: Choice | None) -> dict[str, Any]:
    document = {"index": index, **part, "logprobs": None, "finish_reason": choice.finish_reason if choice else None}
    if choice is not None and choice.finish_reason is not None:
        document["stop_reason"] = choice.stop_reason
    return document
