"""Wrong input: one line on stderr, exit 2, nothing on stdout."""

import pytest

from clustersim.cli.main import main


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ("run", "clustersim: Missing argument 'SCENARIO'."),
        ("run small --nosuch", "clustersim: No such option: --nosuch"),
        ("bogus", "clustersim: No such command 'bogus'."),
        ("run small --set nope", 'override: expected key=value such as "checkpoint.every=20 min", found "nope"'),
        (
            "run small --set cluster.nodez=3",
            'small.toml: cluster.nodez: expected a known key, found "nodez"; did you mean "nodes"?',
        ),
        ("run smal", "small"),
    ],
)
def test_wrong_input_is_one_line(arguments, line, capsys):
    assert main(arguments.split()) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert line in err
