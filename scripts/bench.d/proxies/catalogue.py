"""What is compared, and how each is started: in its default setting but for its address and its backends.

Every proxy gets one port for clients, one for its own figures, the two backends and a folder for a configuration file.
The routers run twice: with `round_robin`, and with `cache_aware`, their own default, whose calls of `/tokenize` the
backend answers. nginx and HAProxy have no useful default for this work and get the usual advice for streams.
"""

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from .places import DEBIAN, VERSIONS, libraries, program

SERVERS = Path(__file__).with_name("servers.py")


@dataclass(frozen=True, slots=True)
class Site:
    """What a proxy is given to run with."""

    port: int
    own_port: int
    """For metrics or administration."""
    backends: tuple[int, int]
    folder: Path

    @property
    def urls(self) -> list[str]:
        return [f"http://127.0.0.1:{port}" for port in self.backends]

    def write(self, name: str, text: str) -> str:
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return str(path)


@dataclass(frozen=True, slots=True)
class Proxy:
    """One row of the comparison. `command` is None if its program is not there."""

    name: str
    command: Callable[[Site], list[str]] | None


def catalogue(policies: list[str]) -> list[Proxy]:
    """Ours with each of `policies`, then the peers, cheapest kind last."""
    ours = [Proxy(f"pointsman {policy}", gateway(policy)) for policy in policies]
    routers = [
        Proxy(f"{peer} {policy}", router(peer, policy))
        for peer in VERSIONS
        for policy in ("round_robin", "cache_aware")
    ]
    plain = [Proxy(peer, PLAIN[peer]() if program(peer) else None) for peer in DEBIAN]
    return [*ours, *routers, *plain, Proxy("tcp relay", relay)]


def environment() -> dict[str, str]:
    return {**os.environ, "LD_LIBRARY_PATH": libraries()}


def backend_command(ports: tuple[int, int]) -> list[str]:
    return [sys.executable, str(SERVERS), "backend", *map(str, ports)]


def gateway(policy: str) -> Callable[[Site], list[str]]:
    """Ours with everything on: accounts, prefix index, facts and their metrics, the admin port."""

    def command(site: Site) -> list[str]:
        ports = ["--listen", f"127.0.0.1:{site.port}", "--admin-listen", f"127.0.0.1:{site.own_port}"]
        return [sys.executable, "-m", "pointsman", "serve", *ports, "--node", ",".join(site.urls), "--policy", policy]

    return command


def router(peer: str, policy: str) -> Callable[[Site], list[str]] | None:
    path = program(peer)
    if path is None:
        return None
    start = {
        "vllm-router": ["--prometheus-host", "127.0.0.1", "--worker-startup-check-interval", "1"],
        "smg": ["launch"],
        "sglang-router": ["launch"],
    }[peer]

    def command(site: Site) -> list[str]:
        ports = ["--host", "127.0.0.1", "--port", str(site.port), "--prometheus-port", str(site.own_port)]
        work = ["--log-level", "error", "--policy", policy, "--worker-urls", *site.urls]
        return [str(path), *start, *ports, *work]

    return command


def nginx() -> Callable[[Site], list[str]]:
    def command(site: Site) -> list[str]:
        text = NGINX.format(site=site, servers="".join(f" server 127.0.0.1:{port};" for port in site.backends))
        return [str(program("nginx")), "-p", str(site.folder), "-e", "stderr", "-c", site.write("nginx.conf", text)]

    return command


def haproxy() -> Callable[[Site], list[str]]:
    def command(site: Site) -> list[str]:
        servers = "".join(f"  server s{port} 127.0.0.1:{port}\n" for port in site.backends)
        return [str(program("haproxy")), "-db", "-f", site.write("haproxy.cfg", HAPROXY.format(site=site) + servers)]

    return command


def relay(site: Site) -> list[str]:
    return [sys.executable, str(SERVERS), "relay", str(site.port), str(site.backends[0])]


PLAIN = {"nginx": nginx, "haproxy": haproxy}

NGINX = """
daemon off; master_process off; pid nginx.pid; error_log stderr error;
events {{ worker_connections 4096; }}
http {{
  access_log off; keepalive_requests 10000000;
  client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi;
  scgi_temp_path scgi;
  upstream nodes {{ least_conn;{servers} keepalive 512; keepalive_requests 10000000; }}
  server {{
    listen 127.0.0.1:{site.port};
    location / {{
      proxy_pass http://nodes; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_buffering off;
    }}
  }}
}}
"""

HAPROXY = """
global
  maxconn 4096
  nbthread 1
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
listen all
  bind 127.0.0.1:{site.port}
  balance leastconn
  http-reuse always
"""
