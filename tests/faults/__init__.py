"""The matrix of faults: what befalls a node, at every moment of a request's life, and what the client may then see.

`cells.py` says which cells there are, `expected.py` what each must come to. A cell is played (`play.py`) on a stage of
its own (`stage.py`): a model served by two nodes, each a fault proxy (`node.py`, `relay.py`, `strikes.py`) before an
emulated engine, behind one gateway that all cells share (`world.py`). Afterwards the client's log, the facts the brain
told and the engines' audit are joined (`invariants.py`).

`scripts/faults matrix` plays all cells; here `test_matrix.py` plays a sample, and all of them under the mark `heavy`.
What was found goes where it can be tested alone: a cell shows that something is wrong, a unit test keeps it right.
"""
