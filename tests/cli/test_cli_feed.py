"""`clustersim feed`: sentences, a table a store, JSON, and a picture."""

import json

from clustersim.study.feed import feed

ASKED = ("feed", "small", "--stores", "hard-disk, nvme", "--steps", 5)


def test_it_says_who_keeps_up_and_by_what(clustersim):
    code, printed, err = clustersim("feed", "llama3-405b", "--stores", "hard-disk", "--steps", 5)
    lines = printed.splitlines()
    assert (code, err) == (0, "")
    assert lines[0].endswith("329 samples of 32.8 kB a second, 10.8 MB/s")
    assert lines[2] == "In bandwidth every pattern keeps up."
    assert lines[3] == (
        "Not fast enough on hard-disk: random (0.456 by operations), indices (0.456 by operations); up to 329 requests "
        "a second are asked for."
    )
    assert lines[5] == "hard-disk"
    assert [line.split()[0] for line in lines[7:15]] == [
        "sequential", "shard-shuffle", "shuffle-buffer", "block-shuffle", "random", "indices", "copy", "copy-behind",
    ]  # fmt: skip


def test_large_figures_are_whole_numbers(clustersim):
    _, printed, _ = clustersim("feed", "images", "--steps", 5)
    assert " 34,500 " in printed
    assert "e+" not in printed


def test_a_table_for_each_store(clustersim):
    code, printed, _ = clustersim(*ASKED, "--loaders", "epoch")
    assert code == 0
    assert [line for line in printed.splitlines() if line in ("hard-disk", "nvme")] == ["hard-disk", "nvme"]
    assert [line.split()[:2] for line in printed.splitlines()].count(["random", "epoch"]) == 2


def test_it_holds_buffers_beside_the_published_marks_and_says_what_a_crash_costs_a_copy(clustersim):
    printed = clustersim("feed", "small", "--stores", "nvme", "--steps", 5, "--resume-at", 16_000)[1]
    lines = printed.splitlines()
    assert any(
        line.startswith("The buffers of torchdata-iterable-buffer hold 0.25 % of the data together, 700 MB of memory;")
        for line in lines
    )
    assert lines[-2] == "A crash while a copy is made ahead of the run costs half of the making on average."
    begun_anew = ", 84.9 s where each crash of the job begins it anew."
    assert lines[-1] == "A shuffled copy takes 84.8 s to make on nvme" + begun_anew


def test_it_says_how_late_a_copy_is_that_crashes_behind_an_epoch(clustersim):
    told = clustersim("feed", "images", "--steps", 5, "--set", "storage.units=12")[1].splitlines()[-1]
    assert told == (
        "A shuffled copy takes 10.2 h to make on its own store, 10.6 h where each crash of the job begins it anew; "
        "behind an epoch such a crash makes the next one 76.4 min late on average."
    )
    years = clustersim("feed", "llama3-405b", "--steps", 2, "--stores", "hard-disk")[1].splitlines()[-1]
    assert years == (
        "A shuffled copy takes 7.22 d to make on hard-disk, more than a hundred years where each crash of the job "
        "begins it anew."
    )


def test_json_is_the_table(clustersim):
    code, printed, err = clustersim(*ASKED, "--json")
    assert (code, err) == (0, "")
    told = json.loads(printed)
    expected = feed("small", ["hard-disk", "nvme"], steps=5).replace(float("inf"), None)
    assert told["rows"] == expected.to_dict("records")
    assert told["rows"][0]["keeps_up_clients"] is None


def test_the_picture(clustersim, tmp_path):
    code, _, err = clustersim(*ASKED, "--out", tmp_path / "feed.svg")
    assert (code, err) == (0, f"wrote {tmp_path / 'feed.svg'}\n")
    assert "<svg" in (tmp_path / "feed.svg").read_text()


def test_what_is_wrong_is_one_line(clustersim, tmp_path):
    for arguments in (
        ("feed", "workshop"),
        ("feed", "small", "--stores", "tape"),
        ("feed", "small", "--steps", 0),
        ("feed", "small", "--resume-at", 16_690),
        ("feed", "small", "--out", tmp_path / "feed.txt"),
        ("feed", "small", "--set", "feed.workers=1 M", "--stores", "nvme"),
    ):
        code, printed, err = clustersim(*arguments)
        assert (code, printed, err.count("\n")) == (2, "", 1), arguments


def test_check_and_run_say_how_the_storage_feeds_the_run(clustersim):
    changes = ("--set", "data.order=shuffle", "--set", "run.epochs=", "--set", "run.steps=100")
    code, printed, _ = clustersim("check", "images", *changes)
    text = " ".join(printed.split())
    assert code == 0
    assert (
        "storage hard-disk, 24 units, read by random: 0.439 times what is asked for comes at most, by operations"
        in text
    )
    assert "; each step waits 6" in text
    assert "bytes a second 901 MB" in text
    assert text.endswith("nothing was simulated, but for the wait for data.")
    code, printed, _ = clustersim("run", "images", *changes)
    assert code == 0
    assert "data starvation" in printed
    assert "storage" not in clustersim("check", "small")[1]


def test_check_says_what_poison_does(clustersim):
    poison = ("--set", "failures=", "--set", "poison={samples=[5, 6], together=2, retries=1}")
    code, printed, _ = clustersim("check", "workshop", *poison)
    assert code == 0
    assert "2 samples; 2 of them in a batch crash a step each time; after 1 retry: skip-batch" in printed


def test_check_says_how_sure_the_mean_wait_is(clustersim):
    tail = 'storage={preset="nvme", latency={type="lognormal", mean="40 ms", sigma=2.0}}'
    changes = ("--set", "model.step_time=1 s", "--set", "model.global_batch=64", "--set", "feed.prefetch=1")
    unsure = " ".join(clustersim("check", "small", "--set", tail, *changes)[1].split())
    assert "for its data, with a standard error of " in unsure
    slow = 'storage={preset="nvme", scope="shared", operations_per_s=32}'
    sure = " ".join(clustersim("check", "small", "--set", slow, *changes)[1].split())
    assert "each step waits 1 s for its data" in sure
    assert "standard error" not in sure
