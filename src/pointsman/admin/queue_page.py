"""The page of who waits, for whoever opens it in a browser. It loads itself anew; no script runs."""

from collections.abc import Sequence
from html import escape
from urllib.parse import quote

from pointsman.observe.queues import Queue, Waiting

REFRESH_S = 2

_PAGE = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><meta http-equiv="refresh" content="{refresh}">
<title>{title} · Pointsman</title>
<style>
:root {{ --quiet: #5a5a5a; --rule: #e5e5e5 }}
@media (prefers-color-scheme: dark) {{ :root {{ --quiet: #a5a5a5; --rule: #3a3d41 }} }}
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem }}
h2 {{ font-size: 1.15rem; margin: 2rem 0 .2rem }} p {{ margin: .2rem 0 .6rem }}
.quiet {{ color: var(--quiet) }} .scroll {{ overflow-x: auto }}
table {{ border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums }}
th, td {{ padding: .3rem .6rem; text-align: right; border-bottom: 1px solid var(--rule); white-space: nowrap }}
th:nth-child(2), td:nth-child(2), th:nth-child(3), td:nth-child(3) {{ text-align: left }}
td.wait {{ text-align: left; width: 30% }} th.wait {{ text-align: left }}
</style></head>
<body><h1>Who waits</h1>
<p class="quiet">{told} This page loads itself anew every {refresh} seconds; <a href="/queue">/queue</a> tells programs
the same. A request's link tells its whole story, and so why it waits.</p>
{queues}</body>
</html>
"""
_HEADINGS = ("position", "request", "tenant", "priority", "prompt tokens", "waited", "expected")


def queue_page(queues: Sequence[Queue]) -> str:
    """The page as HTML."""
    waiting = sum(queue.length for queue in queues)
    title = f"{waiting:,} {'waits' if waiting == 1 else 'wait'}" if waiting else "Nobody waits"
    return _PAGE.format(
        refresh=REFRESH_S, title=title, told=f"{title}.", queues="".join(_section(queue) for queue in queues)
    )


def _section(queue: Queue) -> str:
    name = f"{queue.model} ({queue.apart})" if queue.apart else queue.model
    pace = "" if queue.interval_s is None else f", one placed every {queue.interval_s:.2g} s of late"
    told = f"{queue.length:,} in line by {queue.order}, the oldest for {_seconds(queue.oldest_s)}{pace}"
    left = queue.length - len(queue.first)
    rest = f'<p class="quiet">and {left:,} more</p>' if left else ""
    longest = max((_whole(each) for each in queue.first), default=0.0)
    heads = "".join(f"<th>{heading}</th>" for heading in _HEADINGS) + '<th class="wait">waited and expected</th>'
    rows = "".join(_row(each, longest) for each in queue.first)
    return (
        f'<h2>{escape(name)}</h2><p>{escape(told)}.</p><div class="scroll">'
        f"<table><tr>{heads}</tr>{rows}</table></div>{rest}"
    )


def _row(one: Waiting, longest: float) -> str:
    """`longest` (seconds) is what the widest bar stands for."""
    link = f'<a href="/decisions/{quote(one.request_id, safe="")}">{escape(one.request_id)}</a>'
    expected = "unknown" if one.expected_s is None else _seconds(one.expected_s)
    cells = (
        f"{one.position:,}",
        link + (f" <small>interrupted {one.interruptions}×</small>" if one.interruptions else ""),
        escape(one.tenant),
        f"{one.priority:g}",
        f"{one.prompt_tokens:,}",
        _seconds(one.waited_s),
        expected,
    )
    share = one.waited_s / longest if longest else 0.0
    whole = _whole(one) / longest if longest else 0.0
    bar = (
        f'<td class="wait" title="waited {_seconds(one.waited_s)}, expected {expected} more">'
        f'<svg width="100%" height="12" role="img"><rect width="{whole:.1%}" height="12" fill="currentColor" '
        f'opacity=".15"/><rect width="{share:.1%}" height="12" fill="currentColor" opacity=".5"/></svg></td>'
    )
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + bar + "</tr>"


def _whole(one: Waiting) -> float:
    return one.waited_s + (one.expected_s or 0.0)


def _seconds(seconds: float) -> str:
    return f"{seconds:,.0f} s" if seconds >= 100 else f"{seconds:.1f} s"
