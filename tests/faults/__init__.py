"""The matrix of faults: what befalls a node, at every moment of a request's life, and what the client may then see.

`cells.py` says which cells there are, `expected.py` what each must come to. A cell is played (`play.py`) on a stage of
its own (`stage.py`): a model served by two nodes, each a fault proxy (`proxy.py`, `relay.py`, `strikes.py`) before an
emulated engine, behind one gateway that all cells share (`world.py`). Afterwards the client's log, the facts the brain
told and the engines' audit are joined (`invariants.py`).
"""
