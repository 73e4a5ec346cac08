"""Child processes: told apart, ended by their own id, and their last words shown."""

import errno
import os
import socket
import sys

import pytest

from pointsman.demo import children
from pointsman.demo.children import Child, end_all, free_ports
from pointsman.demo.errors import DemoError


@pytest.fixture
def child(monkeypatch, tmp_path):
    monkeypatch.setattr(children, "COMMAND", (sys.executable, "-c"))
    started = []

    def start(code):
        started.append(Child(f"child-{len(started)}", [code], tmp_path))
        return started[-1]

    yield start
    end_all(started)


def wait_for(one, text):
    while text not in one.log.read_text():
        one.check()


STUBBORN = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); signal.pause()"


def test_a_dead_child_speaks_its_last_words(child):
    dead = child("raise SystemExit('no such model')")
    dead._process.wait()
    with pytest.raises(DemoError, match=r"(?s)child-0 ended with status 1.*no such model.*Try it by hand: "):
        dead.check()


def test_ending_twice_is_harmless_and_leaves_nobody(child):
    one = child("import signal; print('up', flush=True); signal.pause()")
    wait_for(one, "up")
    one.end()
    one.end()
    with pytest.raises(ProcessLookupError):
        os.kill(one.pid, 0)


def test_a_stubborn_child_is_killed(child):
    one = child(STUBBORN)
    wait_for(one, "up")
    one.end(within_s=0.05)
    assert one._process.returncode == -9


def test_a_child_is_out_of_reach_of_the_terminal(child):
    one = child("import signal; print('up', flush=True); signal.pause()")
    assert os.getsid(one.pid) != os.getsid(0)


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs /proc")
def test_cpu_time_is_seen(child):
    one = child("import signal, time\nwhile time.process_time() < 0.12: pass\nprint('up', flush=True)\nsignal.pause()")
    wait_for(one, "up")
    assert one.cpu_seconds() > 0.1


def test_free_ports_differ_and_no_connection_is_given_one():
    ports = free_ports(8)
    assert len(set(ports)) == 8
    assert max(ports) < 32_768, "where Linux begins to give them"


def test_a_port_that_is_taken_is_not_free(monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("127.0.0.1", 0)) as other:
        taken, free = one.getsockname()[1], other.getsockname()[1]
        other.close()
        monkeypatch.setattr("pointsman.demo.children.PORTS", (taken, free))
        assert free_ports(1) == [free]


def test_what_keeps_every_port_from_being_tried_is_told(monkeypatch):
    def nothing_left(_address):
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(socket, "create_server", nothing_left)
    with pytest.raises(OSError, match="Too many open files"):
        free_ports(1)
