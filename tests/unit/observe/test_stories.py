"""Stories of requests, over a real dispatcher."""

from typing import Any

import pytest
from tests.support.driver import DONE, FAILED, TestDriver

from pointsman.brain.model.outcome import Outcome, Verdict
from pointsman.observe.chapters import Chosen, Finished, Held, Sent, Story, TurnedAway, Waited, WentOn
from pointsman.observe.decisions import Decisions
from pointsman.observe.stories import Stories


class Scene:
    """A driver whose stories are written; `epoch` makes Unix seconds of its clock."""

    def __init__(self, *nodes: str, policy: str = "least_requests", kept: int = 1000, **settings: Any) -> None:
        self.driver = TestDriver(policy, [self._tell], **settings)
        fleet = self.driver.dispatcher.fleet
        self.decisions = Decisions(fleet, epoch=1e9)
        self.stories = Stories(fleet, self.decisions, lambda: "fcfs", kept=kept, epoch=1e9)
        for name in nodes:
            self.driver.add(name, slots=1)

    def _tell(self, fact: Any) -> None:
        self.decisions(fact)
        self.stories(fact)

    def story(self, number: int) -> Story:
        (story,) = self.stories.of(f"r{number}")
        return story


def kinds(story: Story) -> list[type]:
    return [type(chapter) for chapter in story.chapters]


def test_one_that_waits_is_told_its_position_and_then_its_node() -> None:
    scene = Scene("a")
    first, _ = scene.driver.submit(), scene.driver.submit(tenant="acme")
    assert scene.story(2).state == "waiting"
    scene.driver.now = 3.0
    scene.driver.finish(scene.driver.lease_of(first), DONE)
    story = scene.story(2)
    assert (story.state, story.tenant, story.arrived) == ("running", "acme", 1e9)
    waited, chosen, sent = story.chapters
    assert isinstance(waited, Waited)
    assert (waited.position, waited.order, waited.after_s) == (1, "fcfs", 0.0)
    assert [(one.node, one.why) for one in waited.passed_over] == [("a", "full: 1 of 1 requests")]
    assert isinstance(chosen, Chosen)
    assert chosen.decision.node == "a"
    assert isinstance(sent, Sent)
    assert (sent.node, sent.attempt, sent.after_s) == ("a", 1, 3.0)


def test_a_try_that_fails_ends_before_the_next_node_is_chosen() -> None:
    scene = Scene("a", "b")
    ticket = scene.driver.submit()
    failed = scene.driver.node(ticket)
    scene.driver.finish(scene.driver.lease_of(ticket), FAILED)
    scene.driver.finish(scene.driver.lease_of(ticket), DONE)
    story = scene.story(1)
    assert kinds(story) == [Chosen, Sent, Finished, Chosen, Sent, Finished]
    again, last = story.chapters[3], story.chapters[5]
    assert isinstance(again, Chosen)
    assert [(one.node, one.why) for one in again.decision.passed_over] == [(failed, "failed this request")]
    assert isinstance(last, Finished)
    assert (last.final, last.prompt_tokens, last.completion_tokens, story.state) == (True, 100, 20, "ended")


def test_an_interruption_and_what_went_on_after_it_are_told() -> None:
    scene = Scene("a", "b")
    ticket = scene.driver.submit(resumable=True)
    lease = scene.driver.lease_of(ticket)
    scene.driver.now = 1.0
    scene.driver.first_token(lease)
    lost = Outcome(verdict=Verdict.FAIL, reason="reset", resumable=True, new_tokens=7)
    scene.driver.now = 2.0
    scene.driver.finish(lease, lost)
    scene.driver.now = 2.5
    scene.driver.first_token(scene.driver.lease_of(ticket))
    went_on = scene.story(1).chapters[-1]
    assert isinstance(went_on, WentOn)
    assert (went_on.tokens, went_on.gap_s, went_on.after_s) == (7, 0.5, 2.5)


def test_a_hold_comes_before_the_waiting_that_follows_from_it() -> None:
    scene = Scene(policy="greedy")
    scene.driver.add("a", kv_tokens=160, slots=8)
    scene.driver.submit(tokens=100, max_tokens=20)
    scene.driver.submit(tokens=100, max_tokens=20)
    held, waited = scene.story(2).chapters
    assert isinstance(held, Held)
    assert (held.decision.reason, held.decision.candidates[0].fits) == ("full", False)
    assert isinstance(waited, Waited)


def test_a_refusal_ends_the_story() -> None:
    scene = Scene("a", queue_limit=1)
    for _ in range(3):
        scene.driver.submit()
    story = scene.story(3)
    assert (story.state, kinds(story)) == ("refused", [TurnedAway])


@pytest.mark.parametrize("kept", [1, 2])
def test_the_oldest_story_makes_room(kept: int) -> None:
    scene = Scene("a", kept=kept)
    for _ in range(3):
        scene.driver.submit()
    assert [bool(scene.stories.of(f"r{number}")) for number in (1, 2, 3)] == [False, kept == 2, True]
    scene.driver.finish(next(iter(scene.driver.running)), DONE)  # what nobody remembers ends quietly


def test_an_id_that_was_used_twice_has_two_stories() -> None:
    scene = Scene("a", "b")
    scene.driver.submit()
    scene.driver.submitted = 0
    scene.driver.submit()
    assert [len(story.chapters) for story in scene.stories.of("r1")] == [2, 2]
