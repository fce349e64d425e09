"""`clustersim sample`: who read it, and which of it the final model kept."""

import json

from clustersim import load_scenario, simulate


def test_a_sample_that_was_read_again_is_told_with_the_fate_of_each_read(clustersim):
    run = simulate(load_scenario("workshop"))
    number = int(run.batch(44)[0])  # rolled back by the failure at 47, and read again from step 40
    code, out, err = clustersim("sample", "workshop", number)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == f"Sample {number} was planned 2 times; the final model saw it 2 times."
    assert lines[2].split() == ["step", "leg", "epoch", "offset", "fate"]
    assert [line.split(maxsplit=4)[::4] for line in lines[4:]] == [["44", "rolled back"], ["44", "kept"]]


def test_json_agrees_with_the_run(clustersim):
    arguments = ("--set", "loader.preset=reshuffle", "--seed", 2, "--replication", 3, "--json")
    run = simulate(load_scenario("workshop", {"loader.preset": "reshuffle"}), 3, 2)
    for number in (0, 100, 239):
        code, out, _ = clustersim("sample", "workshop", number, *arguments)
        told = json.loads(out)
        assert code == 0
        assert list(told) == ["scenario", "seed", "replication", "document", "samples"]
        (sample,) = told["samples"]
        assert (sample["planned"], sample["seen"]) == (2, run.counts.seen[number])
        assert sample["reads"] == run.sample(number).to_dict("records")


def test_a_packed_document_is_all_of_its_samples(clustersim):
    code, out, _ = clustersim("sample", "small", 11, "--document", "--json")
    assert code == 0
    told = json.loads(out)
    assert told["document"] == 11
    assert [sample["sample"] for sample in told["samples"]] == [0, 1]  # tokens 7,700 to 8,400 of samples of 8,192


def test_a_sample_that_is_not_there_is_refused(clustersim):
    code, out, err = clustersim("sample", "workshop", 240)
    assert (code, out) == (2, "")
    assert err == "clustersim: ID: no sample 240: they are numbered 0 to 239\n"


def test_an_unfinished_run_is_said(clustersim, starving):
    code, out, err = clustersim("sample", starving, 5)
    assert code == 1
    assert out.startswith("Sample 5 was planned ")
    assert err.startswith("starved after ")
