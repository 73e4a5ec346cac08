"""Tokens of prompts: told by the client, remembered from answers, asked for where they are worth it."""

import json

import pytest

from pointsman.brain.cache.chain import byte_chain
from pointsman.brain.cache.reported import Naming
from pointsman.brain.model.request import Request
from pointsman.gateway.token_join import TokenJoin, asking_for_ids
from pointsman.wire.kv_events import text_extra
from pointsman.wire.openai.shapes import Prompt

NAMING = Naming(9, 16)
TEXT = b"Once upon a time there was a prompt. " * 100
IDS = list(range(500))


def request(text: bytes = TEXT, model: str = "m") -> tuple[Request, Prompt]:
    return Request(id="r", model=model, chain=byte_chain(1, text)), Prompt(data=text, size=len(text))


def ask(join: TokenJoin, text: bytes = TEXT, data: bytes = b'{"prompt":"..."}', model: str = "m", salt: bytes = b""):  # type: ignore[no-untyped-def]
    return join.telling(*request(text, model), salt, data)


def known(join: TokenJoin, text: bytes = TEXT) -> list[int]:
    what, prompt = request(text)
    assert what.chain is not None
    chain = join.of_text(what.chain, prompt.size)
    return [] if chain is None else list(chain.links)


def test_what_an_answer_told_is_known_of_the_next_prompt_like_it() -> None:
    join = TokenJoin(NAMING, set(), lambda: 1.0)
    assert known(join) == []
    ask(join).told(json.dumps(IDS).encode())
    assert known(join) == NAMING.chain(IDS)
    assert known(join, TEXT + TEXT)[:20] == NAMING.chain(IDS)[:20]


def test_it_is_not_asked_again_until_much_is_new() -> None:
    join = TokenJoin(NAMING, set(), lambda: 1.0)
    ask(join).told(json.dumps(IDS).encode())
    assert ask(join) is None
    assert ask(join, TEXT + b"x" * 200) is None
    assert ask(join, TEXT + TEXT) is not None


@pytest.mark.parametrize(
    "data",
    [
        b'{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{}}]}]}',
        b'{"prompt":"x","return_token_ids":true}',
    ],
)
def test_images_and_clients_that_ask_themselves_are_left_alone(data: bytes) -> None:
    assert ask(TokenJoin(NAMING, set(), lambda: 1.0), data=data) is None


def test_short_prompts_and_token_ids_need_no_asking() -> None:
    join = TokenJoin(NAMING, set(), lambda: 1.0)
    assert ask(join, b"short") is None
    what, _ = request()
    assert join.telling(what, Prompt(token_ids=IDS, size=500), b"", b"{}") is None


def test_parts_of_text_and_tools_are_text() -> None:
    data = b'{"messages":[{"content":[{"type":"text","text":"a"}]}],"tools":[{"type":"function"}]}'
    assert ask(TokenJoin(NAMING, set(), lambda: 1.0), data=data) is not None


def test_adapter_and_salt_are_part_of_the_key() -> None:
    join = TokenJoin(NAMING, {"lora"}, lambda: 1.0)
    chains = [
        join.of_ids(IDS, model, salt) for model, salt in (("m", b""), ("lora", b""), ("m", b'"s"'), ("lora", b'"s"'))
    ]
    assert len({chain.links[0] for chain in chains if chain is not None}) == 4
    assert chains[3] is not None
    assert list(chains[3].links) == NAMING.chain(IDS, "lora", text_extra("s"))
    assert join.of_ids(IDS[:15], "m", b"") is None


@pytest.mark.parametrize("told", [b"[-1]", b"[1.5]", b"{}", b"[18446744073709551616]", b"["])
def test_what_are_no_token_ids_teaches_nothing(told: bytes) -> None:
    join = TokenJoin(NAMING, set(), lambda: 1.0)
    ask(join).told(told)
    assert known(join) == []


def test_asking_is_one_more_member() -> None:
    assert json.loads(asking_for_ids(b'{"model":"m"}')) == {"model": "m", "return_token_ids": True}
