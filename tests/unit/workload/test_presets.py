"""Workloads under names are what they are named for."""

from collections import Counter
from functools import cache

import msgspec
import numpy as np
import pytest

from pointsman.workload.kinds import ClientKind, sessions_of_kinds
from pointsman.workload.presets import WORKLOADS
from pointsman.workload.sessions import ASSISTANT, Session


@cache
def drawn(name: str, seconds: float = 600.0) -> list[tuple[ClientKind, Session]]:
    return sessions_of_kinds(WORKLOADS[name], seed=1, requests_per_second=4.0, seconds=seconds)


def prompts(name: str) -> np.ndarray:
    return np.array([one.prompt_tokens(turn) for _, one in drawn(name) for turn in range(len(one.turns))])


@pytest.mark.parametrize("name", WORKLOADS)
def test_every_preset_is_valid_and_asks_as_much_as_planned(name: str) -> None:
    assert msgspec.convert(msgspec.to_builtins(WORKLOADS[name]), tuple[ClientKind, ...]) == WORKLOADS[name]
    asked = sum(len(session.turns) for _, session in drawn(name))
    assert asked == pytest.approx(2400, rel=0.25)


def test_the_assistant_is_that_of_the_demonstration() -> None:
    (kind,) = WORKLOADS["assistant"]
    assert {field: getattr(kind, field) for field in ASSISTANT.__struct_fields__} == msgspec.structs.asdict(ASSISTANT)


def test_ten_of_a_hundred_tenants_send_two_thirds() -> None:
    sent = Counter(session.tenant for _, session in drawn("tenants", 3000.0))
    assert len(sent) > 80
    assert 0.63 <= sum(count for _, count in sent.most_common(10)) / sent.total() <= 0.93


def test_a_long_minority_is_small_and_long() -> None:
    long = prompts("long_minority") > 10_000
    assert 0.02 < long.mean() < 0.05
    assert np.median(prompts("long_minority")) < 2000


def test_agents_ask_often_and_their_prompts_grow() -> None:
    sessions = [session for _, session in drawn("agents")]
    assert np.mean([len(session.turns) for session in sessions]) > 9
    assert np.quantile(prompts("agents"), 0.9) > 15_000


def test_reasoning_answers_are_long() -> None:
    answers = [turn.output_tokens for _, session in drawn("reasoning") for turn in session.turns]
    assert np.median(answers) > 2000


def test_images_are_alike_and_share_nothing() -> None:
    assert set(prompts("images").tolist()) == {576}
    assert {session.system_tokens for _, session in drawn("images")} == {0}


def test_half_of_batch_and_chat_is_batch() -> None:
    asked: Counter[str] = Counter()
    for kind, session in drawn("batch_and_chat", 3000.0):
        asked[kind.name] += len(session.turns)
    assert asked["batch"] / asked.total() == pytest.approx(0.5, abs=0.08)


def test_adapters_have_prompts_of_their_own() -> None:
    of_prompt = {session.system_prompt: session.adapter for _, session in drawn("adapters")}
    assert len(set(of_prompt.values())) > 20
    assert all(of_prompt[session.system_prompt] == session.adapter for _, session in drawn("adapters"))
