"""A publisher's batches in order, with gaps, restarts and replays."""

from pointsman.brain.cache.following import MOST_WAITING, MOST_WAITING_BLOCKS, Follower
from pointsman.brain.cache.reported import Naming
from pointsman.brain.model.kv_events import Cleared, KvBatch, Removed, Stored

NAMING = Naming(1, 4)


def batch(sequence: int) -> KvBatch:
    """Block `sequence` comes, and the one five before it goes."""
    ids = [sequence] * 4
    events: list[Stored | Removed] = [Stored(names=[sequence], token_ids=ids, block_tokens=4)]
    if sequence >= 5:
        events.append(Removed(names=[sequence - 5]))
    return KvBatch(sequence, events)


def link(sequence: int) -> int:
    return NAMING.chain([sequence] * 4)[0]


class Held:
    """What a reader of the changes has."""

    def __init__(self, follower: Follower) -> None:
        self.follower = follower
        self.links: list[int] = []
        self.whole = False
        self.lost = 0

    def __call__(self) -> list[int]:
        change = self.follower.change()
        if change is not None:
            if change.cleared:
                self.links = []
            self.links += change.came
            for gone in change.went:
                self.links.remove(gone)
            self.whole = change.whole
            self.lost += change.lost
        return sorted(self.links)


def blocks(*sequences: int) -> list[int]:
    return sorted(map(link, sequences))


def follower(*, replays: bool = False) -> tuple[Follower, Held]:
    one = Follower("n", NAMING, replays=replays)
    return one, Held(one)


def test_from_the_first_batch_on_all_is_known() -> None:
    one, held = follower()
    assert one.begin() is None
    for sequence in range(8):
        assert one.hear(batch(sequence)) is None
    assert held() == blocks(3, 4, 5, 6, 7)
    assert held.whole
    assert one.change() is None


def test_who_comes_later_knows_a_part() -> None:
    one, held = follower()
    one.begin()
    one.hear(batch(3))
    assert (held(), held.whole, one.gaps) == (blocks(3), False, 0)


def test_a_gap_without_replay_is_counted_and_all_is_forgotten() -> None:
    """Events 100 to 120 are lost: others did not notice."""
    one, held = follower()
    one.begin()
    for sequence in range(100):
        one.hear(batch(sequence))
    held()
    one.hear(batch(121))
    assert held() == blocks(121)
    assert (held.whole, held.lost, one.gaps) == (False, 21, 1)


def test_a_gap_is_filled_by_a_replay_and_what_came_meanwhile_follows() -> None:
    one, held = follower(replays=True)
    assert one.begin() == 0
    one.replay_ended(answered=True)
    for sequence in range(100):
        one.hear(batch(sequence))
    assert one.hear(batch(121)) == 100
    assert one.hear(batch(122)) is None
    held()
    for sequence in range(100, 123):
        one.replayed(batch(sequence))
    one.replay_ended(answered=True)
    assert held() == blocks(118, 119, 120, 121, 122)
    assert (held.whole, held.lost, one.gaps) == (True, 0, 1)


def test_a_replay_that_has_forgotten_is_no_better_than_none() -> None:
    one, held = follower(replays=True)
    one.begin()
    one.replay_ended(answered=True)
    one.hear(batch(0))
    assert one.hear(batch(50)) == 1
    one.replayed(batch(49))
    one.replay_ended(answered=True)
    assert held() == blocks(49, 50)
    assert (held.whole, held.lost) == (False, 48)


def test_a_replay_that_is_not_answered_ends_too() -> None:
    one, held = follower(replays=True)
    one.begin()
    one.hear(batch(0))
    one.hear(batch(1))
    one.replay_ended(answered=False)
    assert (held(), held.whole) == (blocks(0, 1), True)
    one.hear(batch(7))
    one.replay_ended(answered=False)
    assert (held(), held.whole) == (blocks(7), False)
    one.replay_ended(answered=False)
    one.replayed(batch(9))
    assert held() == blocks(7)


def test_a_publisher_that_has_nothing_to_replay_has_nothing() -> None:
    one, held = follower(replays=True)
    one.begin()
    one.replay_ended(answered=True)
    assert (held(), held.whole) == ([], True)


def test_a_number_that_falls_means_another_process() -> None:
    one, held = follower()
    one.begin()
    for sequence in range(10):
        one.hear(batch(sequence))
    held()
    one.hear(batch(0))
    assert (held(), held.whole) == (blocks(0), True)
    one.hear(batch(0))
    assert (held(), held.whole) == (blocks(0), True)


def test_a_restarted_engine_is_asked_for_all_it_told() -> None:
    one, held = follower(replays=True)
    one.begin()
    one.replay_ended(answered=True)
    for sequence in range(10):
        one.hear(batch(sequence))
    assert one.hear(batch(4)) == 0
    for sequence in range(5):
        one.replayed(batch(sequence))
    one.replay_ended(answered=True)
    assert (held(), held.whole) == (blocks(0, 1, 2, 3, 4), True)


def test_whoever_was_lost_is_begun_anew_though_the_numbers_go_on() -> None:
    """A restarted engine can have passed the old number before it is heard again."""
    one, held = follower()
    one.begin()
    one.hear(batch(0))
    held()
    one.begin()
    assert held() == []
    one.hear(batch(1))
    assert (held(), held.whole) == (blocks(1), False)


def test_a_batch_that_cannot_be_read_costs_what_was_known() -> None:
    one, held = follower()
    one.begin()
    one.hear(batch(0))
    one.misread(1, replayed=False)
    assert (held(), held.whole, held.lost) == ([], False, 1)
    one.hear(batch(2))
    assert held() == blocks(2)


def test_one_that_cannot_be_read_in_a_replay_either() -> None:
    one, held = follower(replays=True)
    one.begin()
    one.misread(3, replayed=False)
    one.replayed(batch(0))
    one.misread(1, replayed=True)
    one.replayed(batch(2))
    one.replay_ended(answered=True)
    assert (held(), held.whole, held.lost) == (blocks(2), False, 1)


def test_what_waits_for_a_replay_is_bounded() -> None:
    one, _ = follower(replays=True)
    one.begin()
    for sequence in range(MOST_WAITING + 5):
        one.hear(KvBatch(sequence, ()))
    one.replay_ended(answered=True)
    assert one.sequence == MOST_WAITING - 1
    assert one.hear(KvBatch(MOST_WAITING + 5, ())) == MOST_WAITING


def test_so_is_what_that_tells_of() -> None:
    one, _ = follower(replays=True)
    one.begin()
    huge = [Removed(names=range(MOST_WAITING_BLOCKS // 2))]
    for sequence in range(4):
        one.hear(KvBatch(sequence, huge if sequence < 2 else ()))
    one.replay_ended(answered=True)
    assert one.sequence == 1, "none is kept behind one that is not"
    assert one.hear(KvBatch(4, ())) == 2
    one.replay_ended(answered=True)
    assert one.hear(KvBatch(9, huge)) == 5, "there is room again"
    one.replay_ended(answered=True)
    assert one.sequence == 9


def test_a_cleared_cache_is_known_whole() -> None:
    one, held = follower()
    one.begin()
    one.hear(batch(7))
    one.hear(KvBatch(8, [Cleared()]))
    assert (held(), held.whole) == ([], True)


def test_another_process_is_another_cache_as_soon_as_that_is_known() -> None:
    one, held = follower()
    one.begin()
    assert one.process(None) is None
    assert one.process(100.0) is None
    one.hear(batch(0))
    assert one.process(100.0) is None
    assert held() == blocks(0)
    one.process(200.0)
    assert (held(), held.whole) == ([], False)
