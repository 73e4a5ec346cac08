"""Records as columns."""

import numpy as np

from pointsman.sim.record import Record
from pointsman.sim.recorded import Recorded


def test_a_row_a_record_and_what_never_happened_is_no_number() -> None:
    records = [
        Record(1.0, 2.0, 3.0, True, node="b", tries=2, dialogue=7, waited_s=0.5, placed_s=1.75),
        Record(2.0, None, 9.0, False),
    ]
    rows = Recorded.of_records(records, ("a", "b"))
    assert (rows.waited_s[0], rows.placed_s[0], rows.tries[0], rows.dialogue[0], rows.node[0]) == (0.5, 1.75, 2, 7, 1)
    assert np.isnan([rows.waited_s[1], rows.placed_s[1], rows.first_s[1]]).all()
    late = rows.only(rows.sent_s > 1.0)
    assert isinstance(late, Recorded)
    assert late.done_s.tolist() == [9.0]
