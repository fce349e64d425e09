"""Wrong input: one line on stderr, exit 2, nothing on stdout."""

import pytest

from clustersim.cli.main import main


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ("run", "clustersim: SCENARIO: expected a value, found nothing\n"),
        ("run small --qqq", 'clustersim: expected a known option, found "--qqq"\n'),
        ("run small --jsn", 'clustersim: expected a known option, found "--jsn"; did you mean "--json"?\n'),
        ("run small -1", 'clustersim: expected a known option, found "-1"\n'),
        ("bogus", "clustersim: No such command 'bogus'."),
        ("run small --replications x", '--replications: expected a whole number of at least 1, found "x"\n'),
        ("run small --replications 0", '--replications: expected a whole number of at least 1, found "0"\n'),
        ("run small --replications 1.5", '--replications: expected a whole number of at least 1, found "1.5"\n'),
        ("run small --seed -4", '--seed: expected a whole number from 0 to 9223372036854775807, found "-4"\n'),
        (f"run small --seed {2**63}", f'found "{2**63}"\n'),
        ("workshop --fail-step 60", '--fail-step: expected a whole number from 0 to 59, found "60"\n'),
        ("sample small -1", "clustersim: ID: samples and documents are numbered from 0, found a negative number\n"),
        ("sample small -- -1", 'clustersim: ID: expected a whole number of at least 0, found "-1"\n'),
        ("run small --out=", 'clustersim: --out: expected a directory\'s name, found ""\n'),
        ("workshop --out=", 'clustersim: --out: expected a picture\'s name, found ""\n'),
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
