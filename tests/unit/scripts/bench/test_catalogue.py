from pathlib import Path

import pytest
from proxies import catalogue, places
from proxies.catalogue import Site

SITE = Site(18810, 18811, (18800, 18801), Path("/nowhere"))


def test_ours_come_first_and_missing_peers_stay_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "PEERS", tmp_path)
    monkeypatch.setattr(places.shutil, "which", lambda *_, **__: None)
    proxies = catalogue.catalogue(["jffc", "round_robin"])
    assert [each.name for each in proxies[:2]] == ["pointsman jffc", "pointsman round_robin"]
    assert {each.name for each in proxies if each.command is None} == {
        *(f"{peer} {policy}" for peer in places.VERSIONS for policy in ("round_robin", "cache_aware")),
        *places.DEBIAN,
    }


def test_a_half_installed_peer_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "PEERS", tmp_path)
    (tmp_path / "smg" / "bin").mkdir(parents=True)
    (tmp_path / "smg" / "bin" / "smg").touch()
    assert places.program("smg") is None
    places.finished("smg").touch()
    assert places.program("smg") == tmp_path / "smg" / "bin" / "smg"


def test_everything_listens_on_the_loopback_alone(tmp_path: Path) -> None:
    site = Site(18810, 18811, (18800, 18801), tmp_path)
    for command in (catalogue.gateway("jffc"), catalogue.nginx(), catalogue.haproxy()):
        command(site)
    for name in ("nginx.conf", "haproxy.cfg"):
        text = (tmp_path / name).read_text()
        assert text.count("127.0.0.1:188") == 3
    assert "127.0.0.1:18810" in catalogue.gateway("jffc")(SITE)
