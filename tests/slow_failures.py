"""When which cause strikes which node, the slow and obvious way: the oracle of `clustersim.cluster.failures`.

Every life of every node is drawn at the start and kept as what is left of it. Whenever a time is told, all that age
are older by what has passed, and an alarm is set anew for the one that has the least left.
"""

from clustersim.cluster.causes import JOB, Strike
from clustersim.cluster.clock import Alarm, Rank


class SlowFailures:
    """What `Failures` is to the cluster; it fails where a strike would come late."""

    def __init__(self, env, causes, lifetimes, machine, horizon_ns, strike):
        self.env, self.causes, self.lifetimes, self.strike = env, causes, lifetimes, strike
        self.of_node = {cause.index: None for cause in causes if cause.life is not None and cause.scope == "node"}
        self.lemons_cured = machine.lemons_cured
        self.held = set(range(machine.nodes))
        self.training = False
        self.now = 0
        self.k, self.left = {}, {}  # by (cause, entity); what struck has nothing left until it is renewed: None
        self.scripted = set()  # (at, cause, entity, entry)
        self.renewed = {}  # node in repair -> cause that begins anew then -> its life, if not by its law
        self.generations, self.cured = {}, set()
        self.alarm = None
        for cause in causes:
            if cause.life is None:
                nodes = cause.at_nodes or [JOB] * len(cause.at_times_ns)
                entries = enumerate(zip(cause.at_times_ns, nodes, strict=True))
                self.scripted |= {(at, cause.index, node, entry) for entry, (at, node) in entries}
                continue
            entities = {"node": range(machine.all_nodes), "job": [JOB]}.get(cause.scope)
            for entity in entities or range(machine.domains(cause.nodes_per_domain)):
                self.k[cause.index, entity] = 0
                lemon = cause.index in self.of_node and lifetimes.is_lemon(entity, 0)
                self.left[cause.index, entity] = lifetimes.life(cause, entity, 0, lemon)
        self.arm(0)

    def ages(self, index, entity):
        cause = self.causes[index]
        held = entity in self.held or index not in self.of_node
        return cause.ages == "wall" or (held and (cause.ages == "in_job" or self.training))

    def aging(self):
        return {pair: left for pair, left in self.left.items() if left is not None and self.ages(*pair)}

    def told(self, now):
        for pair, left in self.aging().items():
            assert left >= now - self.now, "a strike is late"
            self.left[pair] = left - (now - self.now)
        self.now = now

    def arm(self, now):
        self.told(now)
        due = [now + left for left in self.aging().values()] + [at for at, *_ in self.scripted]
        self.alarm = Alarm(self.env, min(due), Rank.STRIKE, self.ring) if due else None

    def ring(self, alarm):
        if alarm is self.alarm:
            self.strike(alarm.at_ns)

    def pop(self, now):
        self.told(now)
        while True:
            assert all(at >= now for at, *_ in self.scripted), "a strike is late"
            due = [entry for at, *entry in self.scripted if at == now]
            due += [[*pair, self.k[pair]] for pair, left in self.aging().items() if left == 0]
            if not due:
                self.arm(now)
                return None
            index, entity, k = min(due, key=lambda each: (self.causes[each[0]].ages == "training", each))
            self.scripted.discard((now, index, entity, k))
            if (index, entity) in self.left:
                self.left[index, entity] = None
            if index not in self.of_node or entity not in self.renewed:
                return Strike(self.causes[index], entity, k)
            self.renewed[entity].setdefault(index)

    def renew(self, cause, entity, now, lasts=None):
        if cause.life is not None:
            self.told(now)
            self.k[cause.index, entity] += 1
            lemon = cause.index in self.of_node and entity not in self.cured
            lemon = lemon and self.lifetimes.is_lemon(entity, self.generation(entity))
            law = self.lifetimes.life(cause, entity, self.k[cause.index, entity], lemon, now)
            self.left[cause.index, entity] = law if lasts is None else lasts
            self.arm(now)

    def take_out(self, node, strike):
        own = strike.entity == node and strike.cause.index in self.of_node
        all_own = self.of_node if strike.cause.renews_all else [strike.cause.index]
        self.renewed[node] = dict.fromkeys(all_own if own else [])

    def repaired(self, strike, mended, life):
        if mended and self.lemons_cured:
            self.cured.add(strike.entity)
        if life is not None:
            self.renewed[strike.entity][strike.cause.index] = life

    def replaced(self, node):
        self.cured.discard(node)
        self.generations[node] = self.generation(node) + 1
        self.renewed[node] = dict(self.of_node)

    def generation(self, node):
        return self.generations.get(node, 0)

    def bring_back(self, node, now):
        for index, life in self.renewed.pop(node).items():
            self.renew(self.causes[index], node, now, life)

    def join(self, node, now):
        self.told(now)
        self.held.add(node)
        self.arm(now)

    def leave(self, node, now):
        self.told(now)
        self.held.remove(node)

    def training_starts(self, now):
        self.told(now)
        self.training = True
        self.arm(now)

    def training_stops(self, now):
        self.told(now)
        self.training = False
