import numpy as np
import pytest

from clustersim.account import Draws, count


def test_views_count_every_epoch(account):
    assert account.draws((0, 0, 0, 30, 4), (1, 2, 5, 12)).views() == 127
    assert Draws.empty().views() == 0


def test_concat_keeps_order_and_select_picks(account):
    first, second = account.draws((0, 0, 0, 3)), account.draws((1, 0, 2, 9), (2, 4, 0, 1))
    both = Draws.concat([first, second])
    assert both.family.tolist() == [0, 1, 2]
    assert both.select(both.stop > 2).epoch.tolist() == [0, 0]
    assert len(Draws.concat([])) == 0


@pytest.mark.parametrize(
    ("name", "value"), [("epochs", 0), ("start", -1), ("start", 9), ("lead", 8), ("lead", -1), ("per_step", 0)]
)
def test_refuses_a_row_out_of_range(account, name, value):
    columns = {key: values.copy() for key, values in vars(account.draws((0, 0, 0, 5), (0, 1, 2, 9))).items()}
    columns[name][1] = value
    with pytest.raises(ValueError, match=rf"row 1 needs .*'{name}': {value}"):
        Draws(**columns)


def test_refuses_other_arrays_than_int64_of_one_length(account):
    columns = dict(vars(account.draws((0, 0, 0, 5))))
    with pytest.raises(ValueError, match="stop must be an int64 array of 1 rows, not float64"):
        Draws(**{**columns, "stop": columns["stop"].astype(float)})
    with pytest.raises(ValueError, match="lead must be an int64 array of 1 rows"):
        Draws(**{**columns, "lead": np.zeros(2, np.int64)})


def test_the_account_refuses_reads_that_leave_the_epoch(account):
    spaces, rng = account.uniform(30), np.random.default_rng(0)
    with pytest.raises(ValueError, match="a read stops at offset 31, and an epoch has 30 samples"):
        count(spaces, account.draws((0, 0, 0, 31)), Draws.empty(), rng)
    with pytest.raises(ValueError, match="a row of several epochs must read them whole"):
        count(spaces, Draws.empty(), account.draws((0, 0, 0, 29, 2)), rng)
