"""Whatever is wrong with a scenario is told in one line: file, key, what was expected, what was found."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clustersim.scenario import ScenarioError, load_scenario, parse_override

DURATION = 'expected a duration such as "10 min"'
EVERY = 'expected an interval such as "10 min", "10 steps", "young", "daly" or "adaptive"'
RATE = 'expected a rate such as "6.5 per 1000 node-days", "2 per GPU-year" or "3 per day"'
TABLES = "one of name, run, model, cluster, parallelism, failures, maintenance, checkpoint, recovery, rewinds, data, "
TABLES += "loader, storage, feed, poison, cost"
RECOVERY = "one of policy, grow_back, batch, in_place, regroup, rejoin, diagnosis, scheduling, start_up, "
RECOVERY += "start_up_per_node, start_up_per_doubling, load, load_attempts, warm_up"
CLUSTER = "one of nodes, spares, gpus_per_node, cold, borrowed, nodes_per_domain, repair_slots, lemons, retirement"
ONE_WAY = "expected exactly one of documents, document_lengths, samples, windows and corpora"
REQUIRED = "expected a value (this key is required), found nothing"

# (what --set is given, the line without the file's name)
WRONG = [
    # unknown keys
    ("cluster.nodez=4", 'cluster.nodez: expected a known key, found "nodez"; did you mean "nodes"?'),
    ("model.flops=1 TFLOP/s", 'model.flops: expected a known key, found "flops"; did you mean "flops_per_gpu"?'),
    ("checkpont.every=3 min", 'checkpont: expected a known key, found "checkpont"; did you mean "checkpoint"?'),
    ("recovery.xyz=1", f'recovery.xyz: expected {RECOVERY}, found "xyz"'),
    (
        'data."a b"=1',
        'data."\\"a b\\"": expected one of documents, samples, windows, corpora, bytes_per_sample, '
        'tokens_per_document, document_sigma, document_lengths, packing, shards, order, skip, found "\\"a b\\""',
    ),
    (
        "failures.0.detecton=1 s",
        'failures.0.detecton: expected a known key, found "detecton"; did you mean "detection"?',
    ),
    ("failures.0.repair.men=1 s", 'failures.0.repair.men: expected a known key, found "men"; did you mean "mean"?'),
    ("x" * 100_000 + "=1", f'{"x" * 60}…: expected {TABLES}, found "{"x" * 60}…"'),
    ("cluster." + "é" * 100_000 + "=1", f'cluster."{"é" * 60}…": expected {CLUSTER}, found "{"é" * 60}…"'),
    # units
    (
        "checkpoint.stall=10 mins",
        f'checkpoint.stall: {DURATION}, found "10 mins" (unit is none of ns, us, ms, s, min, h, d, w, y); '
        'did you mean "min"?',
    ),
    ("checkpoint.every=Young", f'checkpoint.every: {EVERY}, found "Young"; did you mean "young"?'),
    ("checkpoint.every=20", f"checkpoint.every: {EVERY}, found 20 (a number without unit)"),
    ("checkpoint.every=3 GB", f'checkpoint.every: {EVERY}, found "3 GB" (a size)'),
    ("checkpoint.every=0 min", f'checkpoint.every: {EVERY}, longer than 0, found "0 min"'),
    ("checkpoint.every=0 steps", f'checkpoint.every: {EVERY}, longer than 0, found "0 steps"'),
    ("checkpoint.every=true", f"checkpoint.every: {EVERY}, found true"),
    ("checkpoint.stall=5", f"checkpoint.stall: {DURATION}, found 5 (a number without unit)"),
    ("checkpoint.stall=3 GB", f'checkpoint.stall: {DURATION}, found "3 GB" (a size)'),
    ("checkpoint.stall=-5 s", f'checkpoint.stall: {DURATION}, not negative, found "-5 s"'),
    ("failures.0.detection=7", f"failures.0.detection: {DURATION}, found 7 (a number without unit)"),
    ("run.wall_time=0 d", f'run.wall_time: {DURATION}, longer than 0, found "0 d"'),
    ("run.wall_time=150 y", 'run.wall_time: expected a duration of at most 2^62 ns (146 years), found "150 y"'),
    (
        "model.bytes_per_token=4",
        'model.bytes_per_token: expected a size such as "2.3 TB", found 4 (a number without unit)',
    ),
    # numbers
    ("cluster.nodes=0", "cluster.nodes: expected a whole number, at least 1, found 0"),
    ("cluster.nodes=-4", "cluster.nodes: expected a whole number, not negative, found -4"),
    ("cluster.nodes=true", "cluster.nodes: expected a whole number, found true"),
    ("cluster.nodes=2.5", "cluster.nodes: expected a whole number, found 2.5"),
    ("cluster.spares=20 M", "cluster.nodes: expected at most 10 M nodes and spares together, found 20000016"),
    ("model.global_batch=nan", "model.global_batch: expected a whole number, found nan"),
    ("model.global_batch=inf", "model.global_batch: expected a whole number, found inf"),
    ("run.seed=9223372036854775808", "run.seed: expected a whole number below 2^63, found 9223372036854775808"),
    ("data.tokens_per_document=nan", "data.tokens_per_document: expected a number, not negative, found nan"),
    ("data.tokens_per_document=0", "data.tokens_per_document: expected a number greater than 0, found 0"),
    ("failures.0.count=true", "failures.0.count: expected a number, not negative, found true"),
    ("failures.0.count=-1", "failures.0.count: expected a number, not negative, found -1"),
    ("failures.1.rate=-3 per day", f'failures.1.rate: {RATE}, not negative, found "-3 per day"'),
    ("failures.1.rate=3", f"failures.1.rate: {RATE}, found 3 (a number without unit)"),
    # choices and kinds of value
    (
        "recovery.policy=spares",
        'recovery.policy: expected one of "spare", "wait", "shrink", found "spares"; did you mean "spare"?',
    ),
    ("recovery.policy=3", 'recovery.policy: expected one of "spare", "wait", "shrink", found 3'),
    ("checkpoint.final_checkpoint=1", "checkpoint.final_checkpoint: expected true or false, found 1"),
    ("run=3", "run: expected a table, found 3"),
    ("failures=3", "failures: expected a list, found 3"),
    ("failures={}", "failures: expected a list of tables, each headed [[failures]], found a single table"),
    ("failures=[3]", "failures.0: expected a table, found 3"),
    (
        "loader=epoch",
        'loader: expected a table such as { preset = "restore" }, found "epoch"; did you mean "loader.preset"?',
    ),
    ("loader=3", "loader: expected a table, found 3"),
    ("name=3", "name: expected a string, found 3"),
    ('name="a\\u001b[31mb"', 'name: expected a string of printable characters, found "a\\x1b[31mb"'),
    ('name="two\\nlines"', 'name: expected a string of printable characters, found "two\\nlines"'),
    (
        'failures.0.cause="a\\tb"',
        'failures.0.cause: expected a string of printable characters, found "a\\tb"',
    ),
    (
        'failures.2.cause="\\u2028"',
        'failures.2.cause: expected a string of printable characters, found "\\u2028"',
    ),
    ("failures.0.cause=3", "failures.0.cause: expected a string, found 3"),
    ('failures.2.cause=""', 'failures.2.cause: expected a string, not empty, found ""'),
    ('name=""', 'name: expected a string, not empty, found ""'),
    ("cluster.nodes=", f"cluster.nodes: {REQUIRED}"),
    ("cluster=", "cluster: expected a table [cluster] (this key is required), found nothing"),
    # the run
    (
        "run.steps=5",
        "run: expected exactly one of wall_time, steps, samples, tokens, epochs, found wall_time and steps "
        "(an empty value removes a key: --set run.wall_time=)",
    ),
    ("run.wall_time=", "run: expected exactly one of wall_time, steps, samples, tokens, epochs, found none of them"),
    ("run.limit=3 d", "run.limit: expected no limit beside wall_time, which ends the run, found both"),
    ("model.flops_per_gpu=1 TFLOP/s", "model.flops_per_gpu: expected either step_time or flops_per_gpu, found both"),
    (
        "model.step_time=",
        "model.step_time: expected step_time, or parameters, sequence_length and flops_per_gpu, found no parameters",
    ),
    # the nodes
    ("cluster.cold={nodes=3}", f"cluster.cold.start_up: {REQUIRED}"),
    ("cluster.borrowed={after='3 min'}", f"cluster.borrowed.nodes: {REQUIRED}"),
    (
        "cluster.borrowed={nodes='10 M', after='3 min'}",
        "cluster.nodes: expected at most 10 M nodes and spares together, found 10000018",
    ),
    ("cluster.lemons={share=0.1}", f"cluster.lemons.times: {REQUIRED}"),
    ("cluster.lemons={share=2, times=3}", "cluster.lemons.share: expected a share from 0 to 1, found 2"),
    ("cluster.lemons={share=1, times=0}", "cluster.lemons.times: expected a number greater than 0, found 0"),
    (
        "cluster.retirement={}",
        "cluster.retirement.score: expected either failures within a time or a score with its half_life, found neither",
    ),
    (
        "cluster.retirement={failures=3, within='1 d', score=2, half_life='1 d'}",
        "cluster.retirement.score: expected either failures within a time or a score with its half_life, found both",
    ),
    (
        "cluster.retirement={failures=3}",
        "cluster.retirement.within: expected a duration beside failures, found nothing",
    ),
    (
        "cluster.retirement={score=3, within='1 d', half_life='1 d'}",
        "cluster.retirement.within: expected failures beside it, found none",
    ),
    # the layout
    ("parallelism.data=20", "parallelism.data: expected 8 = 128 GPUs / (tensor 4 x pipeline 4 x context 1), found 20"),
    (
        "parallelism.tensor=5",
        "parallelism: expected a whole number of replicas in 128 GPUs / (tensor 5 x pipeline 4 x context 1), found 6.4",
    ),
    ("model.global_batch=7", "model.global_batch: expected at least 8 samples, one for each replica, found 7"),
    ("parallelism.min_data=9", "parallelism.min_data: expected at most 8, the replicas of the job, found 9"),
    # failures
    ("failures.0.cause=software", 'failures.1.cause: expected a cause that no other failure has, found "software"'),
    ("failures.0.over=", 'failures.0.over: expected a period such as "54 d" beside count, found nothing'),
    (
        "failures.0.on_nodes=",
        "failures.0.on_nodes: expected the number of nodes that the count was seen on, found nothing",
    ),
    (
        "failures.0.count=",
        'failures.0.rate: expected count, over and on_nodes, or a rate such as "6.5 per 1000 node-days", found neither',
    ),
    (
        "failures.0.rate=1 per node-day",
        "failures.0.count: expected either a count with its period or a rate, found both",
    ),
    (
        "failures.1.rate=1 per node-day",
        'failures.1.rate: expected a rate "per day" with scope = "job", found "1.0 per 1 node-days"',
    ),
    (
        "failures.1.scope=node",
        'failures.1.rate: expected a rate "per node-day" or "per GPU-year" with scope = "node", found "1.0 per day"',
    ),
    (
        "failures.1.repair=1 h",
        'failures.1.repair: expected no repair with scope = "job", which takes no node, found one',
    ),
    (
        "failures.0.kind=crashes",
        'failures.0.kind: expected one of "crash", "hang", "silent", "false-alarm", "slow", found "crashes"; '
        'did you mean "crash"?',
    ),
    (
        "failures.0.kind=hang",
        'failures.0.detection: expected a timeout such as "10 min", or "never", with kind = "hang", found "0 s"',
    ),
    (
        "failures.2.kind=hang",
        'failures.2.detection: expected a timeout such as "10 min", or "never", with kind = "hang", found "0 s"',
    ),
    (
        "failures.0.detection=never",
        'failures.0.detection: expected a duration or a law with kind = "crash", found "never"',
    ),
    (
        "failures.0.kind=false-alarm",
        'failures.0.repair: expected no repair with kind = "false-alarm", as nothing broke, found one',
    ),
    (
        "failures.0.scope=domain",
        'failures.0.on_nodes: expected no on_nodes with scope = "domain", found 16',
    ),
    (
        "failures.1.scope=domain",
        'failures.1.rate: expected a rate "per domain-year" with scope = "domain", found "1.0 per day"',
    ),
    (
        "failures.2={cause='x', scope='domain', rate='1 per domain-year'}",
        'cluster.nodes_per_domain: expected the nodes of a domain with scope = "domain", found nothing',
    ),
    (
        "failures.2={cause='x', scope='domain', rate='1 per domain-year', ages='training'}",
        'failures.2.ages: expected "wall" with scope = "domain", found "training"',
    ),
    (
        "failures.2={cause='x', scope='domain', rate='1 per domain-year', renews='all'}",
        'failures.2.renews: expected "cause" with scope = "domain", found "all"',
    ),
    (
        "failures.2={cause='x', scope='domain', rate='1 per domain-year', kind='silent'}",
        'failures.2.scope: expected a node or the job that computes wrongly with kind = "silent", found "domain"',
    ),
    (
        "failures.2={cause='x', scope='domain', count=3, over='1 y'}",
        "failures.2.on_domains: expected the number of domains that the count was seen on, found nothing",
    ),
    (
        "failures.1.uncertain=true",
        "failures.1.uncertain: expected a count with its period, of which a rate is known, found none",
    ),
    (
        'failures.1.steps={by="date", at=[], times=[]}',
        "failures.1.steps.at: expected at least one entry, found an empty list",
    ),
    (
        'failures.1.steps={by="date", at=["2 d", "1 d"], times=[1, 2]}',
        "failures.1.steps.at: expected increasing times, found a list out of order",
    ),
    (
        'failures.1.steps={by="date", at=["1 d", "2 d"], times=[1]}',
        "failures.1.steps.times: expected one multiple for each of the 2 steps, found 1",
    ),
    (
        'failures.1.steps={by="date", at=["1 d"], times=[101]}',
        "failures.1.steps.times: expected multiples of at most 100, found 101.0",
    ),
    (
        "failures.1={cause='x', rate='1 per day', scope='job', law={type='gamma', shape=2}, "
        "steps={by='age', at=['1 d'], times=[2]}}",
        'failures.1.law.type: expected "exponential" or "weibull" beside steps, found "gamma"',
    ),
    (
        "failures.1={cause='x', rate='1 per day', scope='job', ages='training', "
        "steps={by='date', at=['1 d'], times=[2]}}",
        'failures.1.steps.by: expected ages = "wall" with by = "date", found "training"',
    ),
    ("failures.0.transient=1.5", "failures.0.transient: expected a share from 0 to 1, found 1.5"),
    ("failures.0.transient=-1", "failures.0.transient: expected a number, not negative, found -1"),
    (
        "failures.1.transient=0.5",
        "failures.1.transient: expected a repair beside it: without one every failure is transient, found 0.5",
    ),
    ("failures.1.repair_starts=detection", "failures.1.repair_starts: expected a repair beside it, found none"),
    ("failures.1.misdiagnosis=0.1", "failures.1.misdiagnosis: expected a repair beside it, found none"),
    ("failures.0.escalates=0.1", "failures.0.manual_repair: expected manual_repair beside escalates, found none"),
    ("failures.0.manual_repair=1 h", "failures.0.escalates: expected escalates beside manual_repair, found none"),
    ("failures.0.manual_fails=0.1", "failures.0.manual_fails: expected a manual_repair beside it, found none"),
    (
        "failures.0.recurs=1 h",
        "failures.0.recurs: expected a repair_fails, manual_fails or misdiagnosis beside it, found none",
    ),
    (
        "failures.1={cause='x', rate='1 per node-day', kind='hang', detection='never', repair='1 h', "
        "repair_starts='detection'}",
        'failures.1.repair_starts: expected "failure" with detection = "never", found "detection"',
    ),
    ("failures.0.count=1e30", "failures: expected at most 2e+07 random failures within the run's limit, found 1e+30"),
    (
        "failures.0.repair.type=weibul",
        'failures.0.repair.type: expected one of "exponential", "weibull", "lognormal", '
        '"gamma", "empirical", found "weibul"; did you mean "weibull"?',
    ),
    (
        "failures.0.repair={}",
        'failures.0.repair.type: expected one of "exponential", "weibull", "lognormal", '
        '"gamma", "empirical", found nothing',
    ),
    (
        "failures.0.law.type=gama",
        'failures.0.law.type: expected one of "exponential", "weibull", "lognormal", '
        '"gamma", "empirical", found "gama"; did you mean "gamma"?',
    ),
    (
        'failures.0.law={type="gamma", shape=101}',
        "failures.0.law.shape: expected a number from 0.05 to 100.0, found 101.0",
    ),
    (
        'failures.0.law={type="empirical", durations=[]}',
        "failures.0.law.durations: expected at least one duration, found an empty list",
    ),
    (
        'failures.0.law={type="empirical", durations=["3 d", 4]}',
        f"failures.0.law.durations.1: {DURATION}, found 4 (a number without unit)",
    ),
    (
        'failures.0.repair={type="gamma", shape=2}',
        f"failures.0.repair.mean: {REQUIRED}",
    ),
    (
        'failures.0.repair={type="empirical", durations=[]}',
        "failures.0.repair.durations: expected at least one duration, found an empty list",
    ),
    ("failures.0.law=weibull", 'failures.0.law: expected a table such as { type = "exponential" }, found "weibull"'),
    ('failures.0.law={type="weibull", shape=0}', "failures.0.law.shape: expected a number greater than 0, found 0"),
    (
        'failures.0.law={type="weibull", shape=0.01}',
        "failures.0.law.shape: expected a number from 0.05 to 100.0, found 0.01",
    ),
    (
        'failures.0.law={type="lognormal", sigma=11}',
        "failures.0.law.sigma: expected a number of at most 10.0, found 11.0",
    ),
    ('failures.0.law={type="weibull"}', f"failures.0.law.shape: {REQUIRED}"),
    (
        "recovery.load.mean=1 h",
        "recovery.load: expected exactly one of mean, scale in a Weibull law, found mean and scale",
    ),
    (
        "failures.2.rate=1 per day",
        "failures.2.rate: expected no such key beside at_steps or at_times, which script a failure, found both",
    ),
    ('failures.2.at_times=["1 d"]', "failures.2.at_times: expected either at_steps or at_times, found both"),
    ("failures.2.at_steps=[]", "failures.2.at_steps: expected at least one entry, found an empty list"),
    ("failures.2.at_steps=[1, -1]", "failures.2.at_steps.1: expected a whole number, not negative, found -1"),
    ("failures.2.data=[8]", "failures.2.data: expected one degree for each of the 2 failures, found 1"),
    ("failures.2.data=[8, 9]", "failures.2.data.1: expected a degree that parallelism allows (from 1 to 8), found 9"),
    (
        'checkpoint={every="young"}',
        'checkpoint.stall: expected a cost of a save, longer than 0, with every = "young", found "0 s"',
    ),
    # the data
    (
        "data.samples=5000",
        f"data.samples: {ONE_WAY}, found more than one",
    ),
    (
        "data.documents=",
        f"data.samples: {ONE_WAY}, found none of them",
    ),
    ("data.documents=50", "data: expected an epoch of at least one global batch (64 samples), found 34 samples"),
    ("data.shards=2 M", "data.shards: expected at most 1367187, the samples of an epoch, found 2000000"),
    (
        "data.tokens_per_document=",
        'data.tokens_per_document: expected tokens_per_document beside packing = "concat", found nothing',
    ),
    (
        "model.sequence_length=",
        'model.sequence_length: expected a sequence length beside data.packing = "concat", found nothing',
    ),
    # the loader
    (
        "loader.preset=nosuch",
        'loader.preset: expected a preset that `clustersim presets` lists, found "nosuch"',
    ),
    (
        "loader.preset=restor",
        'loader.preset: expected a preset that `clustersim presets` lists, found "restor"; did you mean "restore"?',
    ),
    (
        "loader.saves=epoch",
        'loader.saves: expected "samples" or "batches" or "steps" with comes_back = "exact", found "epoch"',
    ),
    (
        "loader.reshuffle_lasts=epoch",
        'loader.reshuffle_lasts: expected comes_back = "reshuffle" beside "epoch", found "exact"',
    ),
    # the paths of overrides
    ("failures.7.count=3", "failures.7: expected 0 to 2 (3 entries), found 7"),
    ("failures.-1.count=3", "failures.-1: expected 0 to 2 (3 entries), found -1"),
    ("failures.first.count=3", "failures.first: expected 0 to 2 (3 entries), found first"),
    ("checkpoint.every.min=3", 'checkpoint.every: expected a table, found "30 min"'),
    ("a..b=3", 'override: expected a dotted path of keys, found "a..b"'),
]


@pytest.mark.parametrize(("override", "line"), WRONG, ids=[override[:40] for override, _ in WRONG])
def test_a_wrong_value_is_told_in_one_line(document, override, line):
    with pytest.raises(ScenarioError) as caught:
        load_scenario(document, dict([parse_override(override)]))
    assert str(caught.value) == f"scenario: {line}"


@pytest.mark.parametrize(
    ("overrides", "line"),
    [
        (
            {"parallelism": {"uneven": "refuse"}, "model.global_batch": 130, "failures.2.data": [8, 7]},
            'parallelism.data: expected a divisor of global_batch = 130 with uneven = "refuse", found 128',
        ),
        (
            {"parallelism.uneven": "refuse"},
            "failures.2.data.1: expected a degree that parallelism allows (from 1 to 8, divisors of 64), found 7",
        ),
        (
            {"cluster.gpus_per_node": 12, "cluster.nodes": 4, "parallelism": {"tensor": 8}},
            "parallelism: expected a replica of whole nodes, or a node of whole replicas, "
            "found 8 GPUs a replica, 12 a node",
        ),
        (
            {"failures.2": {"cause": "drill", "at_times": ["1 d", "24 h"]}},
            "failures.2.at_times: expected increasing times, found a list out of order",
        ),
        (
            {"checkpoint.every": "daly", "failures": []},
            'failures: expected random failures with every = "daly", found none',
        ),
        (
            {"checkpoint.every": "daly", "failures": [{"cause": "x", "rate": "0 per day", "scope": "job"}]},
            'failures: expected random failures with every = "daly", found none',
        ),
        (
            {"recovery.policy": "wait", "cluster.cold": {"nodes": 3, "start_up": "1 h"}},
            'recovery.policy: expected "spare" or "shrink" with cluster.cold, as the job takes none, found "wait"',
        ),
        (
            {"loader.preset": "reshuffle", "data.order": "sequential"},
            'data.order: expected an order that shuffles with loader.comes_back = "reshuffle", found "sequential"',
        ),
        (
            {"loader": {"saves": "samples", "comes_back": "exact", "partition": "shards"}},
            'data.order: expected "shard-shuffle" or "sequential" or "nested-shuffle" or "with-replacement" with '
            'loader.partition = "shards", found "shuffle"',
        ),
        (
            {
                "loader": {
                    "saves": "samples",
                    "comes_back": "exact",
                    "partition": "contiguous-shards",
                    "readers_per_rank": 4,
                },
                "data.order": "sequential",
                "data.shards": 7,
            },
            "data.shards: expected at least 32 shards, one for each of 8 ranks x 4 workers, found 7",
        ),
        (
            {
                "loader": {"saves": "samples", "comes_back": "exact", "partition": "contiguous", "permutes": "part"},
                "data.order": "shard-shuffle",
            },
            'data.order: expected "shuffle" or "shuffle-once" with loader.permutes = "part", found "shard-shuffle"',
        ),
        (
            {"loader": {"saves": "samples", "comes_back": "exact", "partition": "queue", "buffer": 64}},
            'loader.buffer: expected partition = "global" or "strided" or "contiguous" or "shards" or '
            '"contiguous-shards" or "filtered" or "slices" beside 64, found "queue"',
        ),
        (
            {"loader": {"saves": "samples", "comes_back": "exact", "partition": "queue", "readers_per_rank": 2}},
            'loader.readers_per_rank: expected partition = "strided" or "contiguous" or "shards" or '
            '"contiguous-shards" or "filtered" or "slices" beside 2, found "queue"',
        ),
        (
            {
                "loader": {"saves": "samples", "comes_back": "exact", "partition": "contiguous", "permutes": "part"},
                "data": {"samples": "60 M"},
            },
            "data: expected at most 10 M samples, which are counted one by one with "
            'loader.permutes = "part", found 60000000',
        ),
        (
            {
                "loader": {"saves": "steps", "comes_back": "exact", "rank_batch": "constant", "last_batch": "pad"},
                "model.global_batch": 65,
            },
            'model.global_batch: expected a multiple of 8, the ranks, with loader.rank_batch = "constant", found 65',
        ),
        (
            {"loader": {"saves": "batches", "comes_back": "exact", "partition": "strided", "repeats": 10_001}},
            "loader.repeats: expected at most 10000, found 10001",
        ),
        (
            {
                "loader": {"saves": "batches", "comes_back": "exact", "partition": "shards", "repeats": 100_001},
                "data.order": "shard-shuffle",
            },
            "loader.repeats: expected at most 100000, found 100001",
        ),
        (
            {"loader": {"comes_back": "reshuffle", "saves": "epoch"}},
            'loader.saves: expected "samples" or "batches" with comes_back = "reshuffle", found "epoch"',
        ),
        (
            {"loader": {"comes_back": "restart-epoch", "saves": "nothing"}},
            'loader.saves: expected "samples" or "batches" or "epoch" with comes_back = "restart-epoch", '
            'found "nothing"',
        ),
        (
            {"run": {"tokens": "1 T"}, "model.sequence_length": None, "data": {"samples": "1 M"}},
            "run.tokens: expected model.sequence_length beside it, to count tokens, found none",
        ),
        (
            {"run": {"steps": "1 T"}},
            "run: expected a time limit of at most 2^62 ns (146 years), found 4.35e+04 times that",
        ),
        (
            {"model.global_batch": "100 T", "data": {"samples": "1000 T"}},
            "run: expected fewer than 2^62 samples within the run's limit, found 8.64e+18",
        ),
        (
            {"model": {"global_batch": 64, "sequence_length": 1024, "parameters": "4 T", "flops_per_gpu": "1 FLOP/s"}},
            "model: expected a step of at most 2^62 ns (146 years), found 2.66e+06 times that",
        ),
    ],
)
def test_parts_that_do_not_fit_together(document, overrides, line):
    with pytest.raises(ScenarioError) as caught:
        load_scenario(document, overrides)
    assert str(caught.value) == f"scenario: {line}"


def test_the_end_to_remove_is_the_one_that_an_override_meets(document):
    document["run"] = {"steps": 60}
    with pytest.raises(ScenarioError, match=r"found steps and wall_time \(an empty value .* --set run\.steps=\)$"):
        load_scenario(document, {"run.wall_time": "1 d"})
    assert load_scenario(document, {"run.wall_time": "1 d", "run.steps": None}).sizes.steps is None


def test_one_table_where_a_list_is_meant(document):
    document["failures"] = document["failures"][0]
    with pytest.raises(
        ScenarioError, match=r"^scenario: failures: .* each headed \[\[failures\]\], found a single table$"
    ):
        load_scenario(document)


def test_unknown_keys_come_first_then_the_order_of_the_document(document):
    document["checkpoint"]["stall"] = 3
    document["cluster"]["nodes"] = 0
    with pytest.raises(ScenarioError, match=r"^scenario: cluster\.nodes: .* found 0 \(and 1 more\)$"):
        load_scenario(document)
    document = {"checkpoint": document.pop("checkpoint"), **document}
    with pytest.raises(ScenarioError, match=r"^scenario: checkpoint\.stall: .* \(and 1 more\)$"):
        load_scenario(document)
    document["data"]["shard"] = 3
    with pytest.raises(ScenarioError, match=r'^scenario: data\.shard: .* did you mean "shards"\? \(and 2 more\)$'):
        load_scenario(document)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\nb", '"a\\nb"'),
        ("\u2028\x1b[31m", '"\\u2028\\x1b[31m"'),
        ("x" * 61, '"' + "x" * 60 + '…"'),
        ("\ud800", '"\\ud800"'),
        ("é µ", '"é µ"'),
    ],
)
def test_a_string_is_shown_on_one_line_and_cut(document, text, shown):
    with pytest.raises(ScenarioError) as caught:
        load_scenario(document, {"checkpoint.stall": text})
    assert str(caught.value) == f"scenario: checkpoint.stall: {DURATION}, found {shown}"


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"[run]\nsteps = = 3\n", "line 2, column 9: expected TOML, found a syntax error (Invalid value)"),
        (b"x = [1,\n2", "line 2, column 2: expected TOML, found a syntax error (Unclosed array)"),
        (b"x = 1\nx = 2\n", "line 2, column 6: expected TOML, found a syntax error (Cannot overwrite a value)"),
        (b"name = '\xff'", "expected UTF-8 text, found byte 0xff at 8"),
        (b"x = " + b"[" * 5000, "expected TOML, found a value nested too deeply"),
        (b"", "run: expected a table [run] (this key is required), found nothing (and 4 more)"),
    ],
)
def test_a_file_that_cannot_be_read(tmp_path, content, line):
    path = tmp_path / "mine.toml"
    path.write_bytes(content)
    with pytest.raises(ScenarioError) as caught:
        load_scenario(path)
    assert str(caught.value) == f"{path}: {line}"


def test_a_file_that_is_not_there(tmp_path):
    shipped = "capacity, images, llama3-405b, mixture, small, windows, workshop"
    missing = f"expected a scenario file, or one of {shipped}, found no such file"
    with pytest.raises(ScenarioError) as caught:
        load_scenario("workshp")
    assert str(caught.value) == f'workshp: {missing}; did you mean "workshop"?'
    with pytest.raises(ScenarioError) as caught:
        load_scenario(tmp_path / "zzz.toml")
    assert str(caught.value) == f"{tmp_path / 'zzz.toml'}: {missing}"
    with pytest.raises(ScenarioError) as caught:
        load_scenario(tmp_path)
    assert str(caught.value) == f"{tmp_path}: expected a scenario file, found a directory"
    (tmp_path / "mine.toml").touch()
    with pytest.raises(ScenarioError) as caught:
        load_scenario(tmp_path / "mine")
    assert str(caught.value) == f'{tmp_path / "mine"}: {missing}; did you mean "{tmp_path / "mine.toml"}"?'
    (tmp_path / "mine").mkdir()
    with pytest.raises(ScenarioError, match=r'found a directory; did you mean ".*mine\.toml"\?$'):
        load_scenario(tmp_path / "mine")
    with pytest.raises(ScenarioError, match="expected a readable scenario file, found an error"):
        load_scenario("a\0b.toml")


LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(["3 min", "1 B", "young", "weibull", "node", "job", "3 per day", "5 steps", "reshuffle"]),
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(["type", "mean", "cause", "at_steps", "shape", "preset", "<x>", "a b"]), inner),
    ),
    max_leaves=5,
)
PATHS = [
    "name", "run", "run.steps", "run.limit", "model.parameters", "model.global_batch", "cluster", "cluster.nodes",
    "cluster.gpus_per_node", "parallelism", "parallelism.data", "failures", "failures.0", "failures.0.law",
    "failures.0.repair", "failures.1.rate", "failures.2.at_steps", "failures.2.data", "failures.2.detection",
    "checkpoint.every", "checkpoint.final_checkpoint", "recovery.load", "data", "data.documents", "data.shards",
    "data.order", "loader", "loader.preset", "loader.comes_back", "nosuch", "data.nosuch",
]  # fmt: skip


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(overrides=st.dictionaries(st.sampled_from(PATHS), VALUES, min_size=1, max_size=3))
def test_whatever_is_written_loads_or_is_refused_in_our_words(document, overrides):
    try:
        scenario = load_scenario(document, overrides)
    except ScenarioError as error:
        line = str(error)
        assert line.startswith("scenario: ")
        assert line.isprintable()
        assert ": expected " in line
        assert ", found " in line
        assert "Input should" not in line
        assert "a valid value" not in line
    else:
        assert load_scenario(scenario.resolved()) == scenario
