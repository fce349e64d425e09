import numpy as np
import pytest

from clustersim.account import Draws, count_identity, story

ROWS = [(0, 0, 0, 30, 3), (0, 3, 0, 11), (1, 3, 4, 30), (0, 3, 8, 9), (2, 9, 0, 30)]


@pytest.mark.parametrize("per_step", [1, 7, 64])
def test_story_is_what_a_reader_saw(account, per_step):
    for spaces in (account.uniform(30, 4), account.shards((4, 0, 11, 15), 4)):
        draws = account.draws(*ROWS, per_step=per_step)
        counts = count_identity(spaces, Draws.empty(), draws).seen
        for sample in range(30):
            found = story(spaces, draws, sample)
            expected = [read[:4] for read in account.walk(spaces, draws) if read[4] == sample]
            assert list(zip(*(column.tolist() for column in found), strict=True)) == expected
            assert len(found.step) == counts[sample]


def test_no_reads_no_story(account):
    assert len(story(account.uniform(30), Draws.empty(), 7).step) == 0
    nothing = story(account.uniform(30), account.draws((0, 0, 0, 1)), int(account.uniform(30).order(0, 0)[5]))
    assert [len(column) for column in nothing] == [0, 0, 0, 0]


def test_refuses_too_long_a_story_and_says_how_long(account):
    spaces = account.uniform(30)
    draws = account.draws((0, 0, 0, 30, 10**9), (0, 5, 0, 30))
    with pytest.raises(ValueError, match="sample 3 is read 1000000001 times, more than the limit of 10000"):
        story(spaces, draws, 3)


@pytest.mark.parametrize("sample", [-1, 30])
def test_refuses_a_sample_that_is_not_there(account, sample):
    with pytest.raises(ValueError, match=rf"no sample {sample}: they are numbered 0 to 29"):
        story(account.uniform(30), account.draws((0, 0, 0, 30)), sample)


def test_steps_stay_exact_far_into_a_long_run(account):
    spaces = account.uniform(30)
    draws = account.draws((0, 0, 0, 30, 9000), per_step=7)
    found = story(spaces, draws, 3)
    assert found.step.tolist() == ((np.arange(9000) * 30 + found.offset) // 7).tolist()
