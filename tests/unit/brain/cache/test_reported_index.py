"""The index of what nodes report, and of what runs there."""

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from pointsman.brain.cache.reported_index import ReportedIndex, Running
from pointsman.brain.model.kv_events import CacheChange

CHAINS = [[1, 2, 3, 4], [1, 2, 5, 6], [7, 8]]


def index_of(rows: int = 2) -> ReportedIndex:
    index = ReportedIndex()
    for row in range(rows):
        index.add(row)
    return index


def depths(index: ReportedIndex, links: list[int], rows: int = 2) -> list[float]:
    return index.depths(links, rows).tolist()


def test_what_came_is_held_until_it_went_as_often() -> None:
    index = index_of()
    index.change(1, CacheChange(node="b", came=[1, 2, 3]))
    index.change(1, CacheChange(node="b", came=[1, 2], went=[3]))
    assert depths(index, [1, 2, 3]) == [0.0, 2.0]
    index.change(1, CacheChange(node="b", went=[2]))
    assert depths(index, [1, 2, 3]) == [0.0, 2.0]
    index.change(1, CacheChange(node="b", went=[2, 1]))
    assert depths(index, [1, 2, 3]) == [0.0, 1.0]
    assert index.held(1) == 1


def test_a_node_that_clears_holds_nothing_and_what_follows_counts() -> None:
    index = index_of()
    index.change(0, CacheChange(node="a", came=[1, 2]))
    index.change(0, CacheChange(node="a", cleared=True, came=[1], whole=True))
    assert depths(index, [1, 2]) == [1.0, 0.0]
    assert index.whole == {0}
    index.change(0, CacheChange(node="a"))
    assert index.whole == set()


def test_what_runs_is_held_until_it_ends_unless_the_node_lost_all_before() -> None:
    index = index_of()
    one, other = index.begun(0, ([1, 2], [7])), index.begun(0, ([1, 2, 3],))
    assert depths(index, [1, 2, 3]) == [3.0, 0.0]
    index.ended(other)
    assert depths(index, [1, 2, 3]) == [2.0, 0.0]
    index.change(0, CacheChange(node="a", cleared=True, came=[1]))
    index.ended(one)
    assert depths(index, [1, 2, 3]) == [1.0, 0.0]
    gone = index.begun(1, ([1],))
    index.remove(1)
    index.ended(gone)
    assert not index.tracks(1)
    assert index.rows == [0]


def test_what_went_that_never_came_is_nothing() -> None:
    index = index_of()
    index.change(0, CacheChange(node="a", came=[1]))
    index.change(0, CacheChange(node="a", went=[9, 1, 1]))
    assert depths(index, [1]) == [0.0, 0.0]


def test_memory_follows_what_is_held_through_restarts() -> None:
    index = index_of()
    for generation in range(60):
        links = range(generation * 1000, generation * 1000 + 400)
        index.change(0, CacheChange(node="a", cleared=True, came=links))
    for extra in range(10**6, 10**6 + 2000):
        index.change(1, CacheChange(node="b", came=[extra], went=[extra - 1]))
    assert index.held(0) == 400
    assert len(index) <= 500


@given(data=st.data())
@settings(max_examples=100, deadline=None)
def test_table_and_counts_agree_whatever_happens(data: st.DataObject) -> None:
    """Chains come whole and go from their ends, requests begin and end, nodes clear: closed under prefixes."""
    index = index_of()
    told: list[list[list[int]]] = [[], []]
    running: list[tuple[int, list[int], Running]] = []
    for _ in range(data.draw(st.integers(1, 30))):
        row, links = data.draw(st.integers(0, 1)), data.draw(st.sampled_from(CHAINS))
        action = data.draw(st.sampled_from(["come", "go", "begin", "end", "clear"]))
        if action == "come":
            index.change(row, CacheChange(node="", came=links))
            told[row].append(list(links))
        elif action == "go" and told[row]:
            chain = told[row][-1]
            index.change(row, CacheChange(node="", went=[chain.pop()]))
            told[row] = [each for each in told[row] if each]
        elif action == "begin":
            running.append((row, links, index.begun(row, (links,))))
        elif action == "end" and running:
            index.ended(running.pop()[2])
        elif action == "clear":
            index.change(row, CacheChange(node="", cleared=True))
            told[row] = []
            running = [each for each in running if each[0] != row]
        for at in range(2):
            counts = Counter(link for chain in told[at] for link in chain)
            counts.update(link for there, chain, _ in running if there == at for link in chain)
            assert set(index._links[at]) == set(counts)
            for chain in CHAINS:
                depth = next((i for i, link in enumerate(chain) if link not in counts), len(chain))
                assert depths(index, chain)[at] == depth
