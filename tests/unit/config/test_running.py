from pointsman.brain.model.settings import BrainSettings
from pointsman.config.running import changed, while_running
from pointsman.config.serve import ServeConfig

BEFORE = ServeConfig(listen="a:1", api_keys=("k",), brain=BrainSettings(seed=1))


def test_what_is_used_once_stays_and_is_named() -> None:
    after = ServeConfig(listen="b:2", journal="x", api_keys=("new",), brain=BrainSettings(seed=2, tries=3))
    config, kept = while_running(BEFORE, after)
    assert kept == ["listen", "journal", "brain.seed"]
    assert config == ServeConfig(listen="a:1", api_keys=("new",), brain=BrainSettings(seed=1, tries=3))
    assert changed(BEFORE, config) == ["api_keys", "brain"]


def test_the_same_again_changes_nothing() -> None:
    assert while_running(BEFORE, BEFORE) == (BEFORE, [])
    assert changed(BEFORE, BEFORE) == []


def test_certificates_change_but_not_whether_there_is_one() -> None:
    one, two = ServeConfig(tls_cert="1", tls_key="1"), ServeConfig(tls_cert="2", tls_key="2")
    assert while_running(one, two) == (two, [])
    assert while_running(one, ServeConfig()) == (one, ["tls_cert", "tls_key"])
    assert while_running(ServeConfig(), one) == (ServeConfig(), ["tls_cert", "tls_key"])
