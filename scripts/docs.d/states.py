"""The page of node states, drawn from the table that moves them."""

from markdown import code, table

from pointsman.brain.life.health import MOVES

_HEAD = """# States of a node

Every node is in one state; events move it. What is not in the table changes nothing. Nodes that are `up`, or `joining`
after a fall, are given work. Such a node on trial holds one request until its first token, then ramps up. When fewer
than half of a model's nodes are so in use (those being drained do not count), what is known of the others is doubted:
`suspect` and `down` ones are used too, unless they refused the last connection (`pointsman_panic`). A new node gets
nothing before its first good probe. `pointsman_node_state` and `GET /nodes` tell the state,
`pointsman_node_transitions_total` the moves.

"""


def page() -> str:
    """Markdown with a diagram."""
    moves = sorted((before.value, event.value, after.value) for (before, event), after in MOVES.items())
    drawn = [
        f"    {before} --> {after}: {event}" for before, event, after in moves if event not in ("drain", "removed")
    ]
    diagram = "```mermaid\nstateDiagram-v2\n    [*] --> joining\n" + "\n".join(drawn) + "\n```\n\n"
    rows = [(code(before), event, code(after)) for before, event, after in moves]
    note = "Any state moves to `draining` when the node is drained, and to `gone` when it is removed.\n\n"
    return _HEAD + diagram + note + table(("in state", "on event", "to state"), rows)
