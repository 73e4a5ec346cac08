"""What the tests hold of a running engine and a running gateway, each asked over HTTP like anybody would ask."""

import json
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prometheus_client.parser import text_string_to_metric_families

# The proxies of the environment are not for loopback.
_opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def get(url: str) -> str:
    """The body at `url`. Raises urllib.error.URLError."""
    with _opener.open(url, timeout=5) as response:
        return str(response.read().decode())


def wait_until(condition: Callable[[], bool], seconds: float, what: str) -> float:
    """Wait until `condition` holds and return the seconds it took; AssertionError naming `what` after `seconds`."""
    began = time.monotonic()
    while not condition():
        assert time.monotonic() - began < seconds, f"not within {seconds} s: {what}"
        time.sleep(0.05)
    return time.monotonic() - began


@dataclass(frozen=True, slots=True)
class Engine:
    """A real vLLM server, seen through its own metrics: what it says it did, whatever the gateway says."""

    url: str

    def metric(self, name: str) -> float:
        """The sum of all samples of `vllm:{name}`."""
        families = text_string_to_metric_families(get(f"{self.url}/metrics"))
        return sum(s.value for family in families for s in family.samples if s.name == f"vllm:{name}")

    def running(self) -> float:
        return self.metric("num_requests_running")

    def generated(self) -> float:
        """Tokens generated since the engine started."""
        return self.metric("generation_tokens_total")

    def served(self) -> float:
        """Requests completed since the engine started; aborted ones do not count."""
        return self.metric("request_success_total")


@dataclass(frozen=True, slots=True)
class Gateway:
    """A `pointsman serve` process before the engines."""

    process: subprocess.Popen[bytes]
    url: str
    admin_url: str

    def is_ready(self, log: Path) -> bool:
        """Whether it can serve. AssertionError with the log's end if the process has ended."""
        assert self.process.poll() is None, f"the gateway ended:\n{log.read_text()[-3000:]}"
        try:
            return bool(json.loads(get(f"{self.url}/health") and get(f"{self.url}/v1/models"))["data"])
        except (urllib.error.URLError, OSError):
            return False

    def decisions(self, request_id: str) -> list[dict[str, Any]]:
        """The remembered decisions about one request, oldest first."""
        stories = json.loads(get(f"{self.admin_url}/decisions/{request_id}"))
        chapters = (chapter for story in stories for chapter in story["chapters"])
        return [chapter["decision"] for chapter in chapters if "decision" in chapter]

    def node_of(self, request_id: str) -> str:
        """The node where the gateway says it sent the request last."""
        return str(self.decisions(request_id)[-1]["node"])


def configuration(gateway_port: int, policy: str, engines: list[Engine]) -> str:
    """The TOML of a gateway on `gateway_port`, its admin port one above; models are discovered."""
    head = f'listen = "127.0.0.1:{gateway_port}"\nadmin_listen = "127.0.0.1:{gateway_port + 1}"\npolicy = "{policy}"\n'
    nodes = (f'[[nodes]]\nurl = "{engine.url}"\nengine = "vllm"\nblock_tokens = 32\n' for engine in engines)
    return head + "".join(nodes) + "[timeouts]\nlame_duck_s = 0.0\n"
