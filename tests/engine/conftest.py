"""Real engines behind a real gateway: `scripts/engines test` starts the engines and says where they are.

Every test gets a gateway of its own, a subprocess that knows nothing of earlier tests; the engines' caches outlive
the tests, so prompts that count cached tokens begin with something never sent before (`fresh`).
"""

import os
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import openai
import pytest

from .live import Engine, Gateway, configuration, wait_until

START_SECONDS = 20.0
STOP_SECONDS = 15.0
PORT = int(os.environ.get("POINTSMAN_TEST_PORT", "18380"))


@pytest.fixture(scope="session")
def engines() -> list[Engine]:
    """The engines under test, replicas of one model."""
    urls = os.environ.get("POINTSMAN_TEST_ENGINES", "")
    if not urls:
        pytest.skip("no engines: scripts/engines test starts them")
    return [Engine(url.strip().rstrip("/")) for url in urls.split(",")]


@pytest.fixture(scope="session")
def model() -> str:
    """The model they serve: `smollm2` makes sense, `tiny` makes noise quickly."""
    return os.environ.get("POINTSMAN_TEST_MODEL", "smollm2")


@pytest.fixture
def fresh() -> str:
    """Text that was never sent before: no engine has cached a block that begins with it."""
    return uuid.uuid4().hex


@pytest.fixture
def start_gateway(engines: list[Engine], tmp_path: Path) -> Iterator[Callable[..., Gateway]]:
    """Start a gateway with a policy, and perhaps further settings; it is stopped when the test ends."""
    started: list[Gateway] = []

    def start(policy: str, more: str = "") -> Gateway:
        file, log = tmp_path / "pointsman.toml", tmp_path / "gateway.log"
        file.write_text(more + configuration(PORT, policy, engines))
        command = [Path(sys.executable).with_name("pointsman"), "serve", "--config", file]
        with log.open("wb") as output:
            process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
        gateway = Gateway(process, f"http://127.0.0.1:{PORT}", f"http://127.0.0.1:{PORT + 1}")
        started.append(gateway)
        wait_until(lambda: gateway.is_ready(log), START_SECONDS, "the gateway is ready")
        return gateway

    yield start
    for gateway in started:
        stop(gateway.process)


def stop(process: subprocess.Popen[bytes]) -> None:
    """End the gateway: gently, a second time, then by force."""
    for end in (process.terminate, process.terminate, process.kill):
        end()
        try:
            process.wait(STOP_SECONDS)
            return
        except subprocess.TimeoutExpired:
            continue


@pytest.fixture
def gateway(start_gateway: Callable[[str], Gateway]) -> Gateway:
    """A gateway with the default policy of the documentation."""
    return start_gateway("fastest_completion")


@pytest.fixture
def connect() -> Iterator[Callable[[Gateway], openai.OpenAI]]:
    """Make the client our users have; it never retries, so that every failure shows."""
    clients: list[openai.OpenAI] = []

    def make(gateway: Gateway) -> openai.OpenAI:
        http = openai.DefaultHttpxClient(trust_env=False)
        url = f"{gateway.url}/v1"
        client = openai.OpenAI(base_url=url, api_key="unused", max_retries=0, timeout=60, http_client=http)
        clients.append(client)
        return client

    yield make
    for client in clients:
        client.close()


@pytest.fixture
def client(gateway: Gateway, connect: Callable[[Gateway], openai.OpenAI]) -> openai.OpenAI:
    """A client of `gateway`."""
    return connect(gateway)
