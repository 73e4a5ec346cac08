"""The generated workload: texts shared as announced."""

from pointsman.demo.sessions import session_demand
from pointsman.workload.text import WORD_BYTES


def test_dialogues_share_few_system_prompts():
    demand = session_demand(1, 8.0, 60.0)
    systems = {dialogue.system for dialogue in demand.dialogues}
    assert 1 < len(systems) <= 12
    assert len({line.text for dialogue in demand.dialogues for line in dialogue.lines}) == sum(
        len(dialogue.lines) for dialogue in demand.dialogues
    )


def test_the_request_rate_is_the_one_asked_for():
    demand = session_demand(1, 8.0, 600.0)
    assert abs(sum(len(dialogue.lines) for dialogue in demand.dialogues) / 600.0 / 8.0 - 1) < 0.06


def test_the_same_seed_gives_the_same_demand():
    assert session_demand(3, 8.0, 20.0) == session_demand(3, 8.0, 20.0)


def test_texts_have_the_lengths_drawn():
    dialogue = session_demand(1, 8.0, 20.0).dialogues[0]
    assert len(dialogue.system) % WORD_BYTES == 0
    assert 512 <= len(dialogue.system) / WORD_BYTES <= 4096


def test_a_dialogue_ends_before_what_no_engine_would_take():
    whole = session_demand(1, 8.0, 60.0)
    cut = session_demand(1, 8.0, 60.0, most_tokens=4_000)
    assert [len(one.lines) for one in cut.dialogues] != [len(one.lines) for one in whole.dialogues]
    assert all(
        one.lines == before.lines[: len(one.lines)] for one, before in zip(cut.dialogues, whole.dialogues, strict=True)
    )
