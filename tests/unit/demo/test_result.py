"""What a comparison says about itself: JSON, caption, doubts."""

import msgspec

from pointsman.demo.figures import figures
from pointsman.demo.result import Result, Round, Usage
from pointsman.demo.scene import SCENE
from pointsman.observe.comparison import Sample, Window

WINDOW = Window(10.0, 40.0)


def result(late=0.02, cpu=0.4, problems=(), unanswered=0):
    samples = (Sample(12.0, 12.5, 14.5, True, 100, 50, 21, "fast-1"),)
    one = Round(
        figures=figures("jffc", samples, WINDOW, SCENE.capacity()),
        samples=samples,
        cpu=Usage(cpu, cpu, cpu),
        lateness_p99_s=late,
        problems=problems,
        unanswered=unanswered,
    )
    return Result(
        rounds=(one,),
        scene=SCENE,
        window=WINDOW,
        workload="12 dialogues",
        remarks=("2 clipped",),
        saturation_rps=8.0,
        load=0.7,
        seed=1,
        time_scale=10.0,
        cpus=2,
    )


def test_json_has_the_figures_and_the_conditions():
    document = msgspec.json.decode(msgspec.json.encode(result().as_json()))
    (policy,) = document["policies"]
    figures_asked_for = "throughput_rps success ttft_mean_s ttft_p50_s ttft_p99_s tpot_mean_s hit_ratio imbalance"
    assert policy["name"] == "jffc"
    assert set(figures_asked_for.split()) <= set(policy)
    assert policy["ttft_p99_s"] == 0.5
    assert document["sound"] is True
    assert document["fault"]["node"] == "fast-2"


def test_sound_figures_carry_no_doubt():
    assert "engine seconds: wall seconds × 10" in result().caption()
    assert "2 clipped." in result().notes()
    assert result().findings() == []


def test_failures_are_told_by_policy():
    assert "Failures under jffc: 3× status 503; 1× cut." in result(problems=("3× status 503", "1× cut")).findings()


def test_a_late_client_or_a_busy_machine_is_said():
    assert any("UNSOUND: the client itself" in line for line in result(late=0.5).findings())
    assert any("UNSOUND: the machine was busy: 2.1 of 2 cores" in line for line in result(cpu=0.7).findings())
    assert result(late=0.5).as_json()["sound"] is False


def test_who_could_not_keep_up_is_told():
    assert result(unanswered=78).findings() == [
        "jffc could not keep up: 78 requests were still unanswered when the run ended."
    ]
    assert "1 request was still" in result(unanswered=1).findings()[0]
    assert result(unanswered=78).as_json()["policies"][0]["unanswered"] == 78
