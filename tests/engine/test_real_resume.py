"""A stream that is taken off a real engine goes on on the other one, and reads as if nothing had happened.

At temperature 0, that is: now and then two tokens are as likely as each other to the last bit, and the other engine,
which computes the beginning in one piece, takes the other one. So a few texts may differ behind the cut.
"""

import json
import urllib.request
from collections.abc import Callable
from typing import Any, Literal
from urllib.parse import quote

import openai
import pytest

from .live import Gateway, get, wait_until

pytestmark = pytest.mark.engine

CUTS = (1, 2, 3, 5, 8, 13, 21, 30)
TOKENS = 40
MOST_TIES = 2
QUESTION = "Tell me, in a few sentences, what a pointsman at a railway does."
STORY = "Once upon a time there was a small railway station in the mountains, and every morning its old pointsman"
COMMON: dict[str, Any] = {
    "max_tokens": TOKENS,
    "temperature": 0,
    "stream": True,
}
Kind = Literal["chat", "completion"]


class Reader:
    """Asks for the same answer again and again."""

    def __init__(self, gateway: Gateway, client: openai.OpenAI, model: str, kind: Kind) -> None:
        self.gateway = gateway
        self.client = client
        self.model = model
        self.kind = kind

    def read(self, cut: int = 0) -> str:
        """The text; behind chunk `cut` its node is emptied."""
        name = f"resume-{self.kind}-{cut}"
        text, node = "", ""
        for number, chunk in enumerate(self._stream(name), start=1):
            choices = chunk.choices
            if choices:
                text += (choices[0].delta.content if self.kind == "chat" else choices[0].text) or ""
            if number == cut:
                node = self.gateway.node_of(name)
                self._change(node, drain=True, limit_s=0)
        if node:
            self._change(node, drain=False)
            wait_until(lambda: get(f"{self.gateway.admin_url}/nodes").count('"up"') == 2, 10.0, "both nodes are up")
        return text

    def _stream(self, name: str) -> Any:
        more = COMMON | {"model": self.model, "extra_headers": {"x-request-id": name}}
        if self.kind == "completion":
            return self.client.completions.create(prompt=STORY, **more)
        return self.client.chat.completions.create(messages=[{"role": "user", "content": QUESTION}], **more)

    def _change(self, node: str, **change: Any) -> None:
        url = f"{self.gateway.admin_url}/nodes/{quote(node, safe='')}"
        headers = {"content-type": "application/json"}
        request = urllib.request.Request(url, json.dumps(change).encode(), headers, method="PATCH")
        urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=5).close()


def moved(gateway: Gateway) -> int:
    page = get(f"{gateway.admin_url}/metrics")
    lines = [line for line in page.splitlines() if line.startswith("pointsman_interruptions_total{")]
    return sum(int(float(line.rsplit(" ", 1)[1])) for line in lines if 'resumed="yes"' in line)


@pytest.mark.parametrize("kind", ["completion", "chat"])
@pytest.mark.parametrize("by", ["tokens", "text"])
def test_a_stream_goes_on_wherever_it_is_cut(
    start_gateway: Callable[..., Gateway],
    connect: Callable[[Gateway], openai.OpenAI],
    model: str,
    by: str,
    kind: Kind,
) -> None:
    gateway = start_gateway("round_robin", f'resume = "{by}"\n')
    reader = Reader(gateway, connect(gateway), model, kind)
    reader.read()  # nothing of the prompt is cached yet, and a trial may run beside it: that moves ties
    if (by, kind) == ("text", "chat"):
        probed = "pointsman_continuation_probes_total{"
        wait_until(lambda: probed in get(f"{gateway.admin_url}/metrics"), 60.0, "it was tried whether chats go on")
        if 'result="faithful"' not in get(f"{gateway.admin_url}/metrics"):
            pytest.skip(f"the template of {model} does not continue faithfully: by text its chats are not resumed")
    wholes = [reader.read() for _ in range(2)]  # one a node
    texts = {cut: reader.read(cut) for cut in CUTS}
    assert moved(gateway) == len(CUTS)
    different = {text for text in texts.values() if text not in wholes}  # cuts before one tie differ alike
    assert len(different) <= MOST_TIES, (wholes, texts)
