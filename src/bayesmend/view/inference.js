// Exact inference in a Bayesian network, by messages in a junction tree.
//
// All numbers are natural logarithms, so that no product underflows. Messages are those
// of Shafer and Shenoy: a table never contains what it is told by the one it tells, so
// any single finding can be taken back from what all others say (`Answers.without`).

/** Entries of the largest table that is made: beyond, the library has to be asked. */
export const MOST_ENTRIES = 2 ** 18;

/** Entries of all tables together, likewise. */
export const MOST_TOGETHER = 2 ** 21;

/** The network is too densely joined for exact inference here. */
export class TooWide extends Error {
  constructor({ largest, widest, total }, { limit, together }) {
    const show = (n) => n.toLocaleString("en");
    super(
      largest > limit
        ? `Exact inference needs a table of ${show(largest)} entries over ${widest} ` +
            `variables; this page makes tables of up to ${show(limit)}.`
        : `Exact inference needs tables of ${show(total)} entries together; this page ` +
            `makes up to ${show(together)}.`,
    );
    this.name = "TooWide";
    this.largest = largest;
  }
}

/**
 * Compile a network.
 *
 * @param {{card: number[], parents: number[][], cpts: ArrayLike<number>[]}} model
 *   `cpts[v][j * card[v] + k]` is the probability of state k given configuration j of
 *   the parents, the first parent varying fastest.
 * @param {{limit?: number, together?: number}} options Entries of the largest table
 *   allowed, and of all.
 */
export function compile(
  model,
  { limit = MOST_ENTRIES, together = MOST_TOGETHER } = {},
) {
  const tree = joinTree(model);
  if (tree.largest > limit || tree.total > together) {
    throw new TooWide(tree, { limit, together });
  }
  return new Engine(model, tree);
}

class Engine {
  constructor(model, tree) {
    this.card = model.card;
    this.cliques = tree.cliques.map((members) => new Table(members, model.card));
    this.parent = tree.parent;
    this.home = tree.home;
    this.root = tree.parent.map((_, c) => {
      let at = c;
      while (tree.parent[at] >= 0) at = tree.parent[at];
      return at;
    });
    this.separators = tree.separators.map((members) => new Table(members, model.card));
    this.toParent = this.separators.map((s, c) =>
      this.parent[c] < 0 ? null : mapping(this.cliques[this.parent[c]], s),
    );
    this.toSeparator = this.separators.map((s, c) =>
      this.parent[c] < 0 ? null : mapping(this.cliques[c], s),
    );
    // The logarithm of what is not zero, and the number of factors that are.
    this.base = this.cliques.map((t) => new Float64Array(t.size));
    this.baseZeros = this.cliques.map((t) => new Uint16Array(t.size));
    model.parents.forEach((parents, v) => {
      const family = new Table([v, ...parents], model.card);
      const values = Float64Array.from(model.cpts[v], Math.log);
      const c = tree.host[v];
      const at = mapping(this.cliques[c], family);
      multiply(this.base[c], this.baseZeros[c], values, at);
    });
  }

  /**
   * Answer for all variables at once.
   *
   * @param {Map<number, number>} evidence State of each variable that is known.
   * @returns {Answers}
   */
  infer(evidence = new Map()) {
    const { sums, zeros, up, logEvidence, ofRoots } = this.#collect(evidence, logSum);
    for (let c = this.cliques.length - 1; c >= 0; c--) {
      const p = this.parent[c];
      if (p < 0) continue;
      // Parents have higher numbers, so the parent is complete.
      const down = marginal(
        sums[p],
        zeros[p],
        this.toParent[c],
        this.separators[c].size,
        { without: up[c] },
      );
      multiply(sums[c], zeros[c], down, this.toSeparator[c]);
    }
    return new Answers(this, evidence, sums, zeros, logEvidence, ofRoots);
  }

  /** The logarithm of the probability of some states together; -Infinity: impossible. */
  logProbability(evidence) {
    return this.#collect(evidence, logSum).logEvidence;
  }

  /**
   * The most probable states of all variables together.
   *
   * @returns {{states: number[], logProbability: number}} The probability is that of the
   *   states and the evidence; null where the evidence is impossible.
   */
  mostProbable(evidence = new Map()) {
    const { sums, zeros, logEvidence } = this.#collect(evidence, logMax);
    if (logEvidence === -Infinity) return null;
    const states = new Array(this.card.length).fill(-1);
    for (let c = this.cliques.length - 1; c >= 0; c--) {
      const told = this.parent[c] < 0 ? 0 : this.separators[c].indexOf(states);
      const at = this.toSeparator[c];
      let best = -1;
      for (let i = 0; i < sums[c].length; i++) {
        if (zeros[c][i] || (at && at[i] !== told)) continue;
        if (best < 0 || sums[c][i] > sums[c][best]) best = i;
      }
      this.cliques[c].statesAt(best, states);
    }
    return { states, logProbability: logEvidence };
  }

  /**
   * Find states of the evidence that cannot occur together, none of them superfluous.
   *
   * @returns {number[]} Variables; empty where the evidence is possible.
   */
  conflict(evidence) {
    if (this.logProbability(evidence) > -Infinity) return [];
    const kept = new Map(evidence);
    for (const [v, state] of evidence) {
      kept.delete(v);
      if (this.logProbability(kept) > -Infinity) kept.set(v, state);
    }
    return [...kept.keys()];
  }

  /** Pass messages from the leaves to the roots. */
  #collect(evidence, reduce) {
    const sums = this.base.map((values) => values.slice());
    const zeros = this.baseZeros.map((values) => values.slice());
    for (const [v, state] of evidence) {
      const c = this.home[v];
      const stride = this.cliques[c].strideOf(v);
      const count = zeros[c];
      for (let i = 0; i < count.length; i++) {
        if (Math.floor(i / stride) % this.card[v] !== state) count[i]++;
      }
    }
    const up = [];
    let logEvidence = 0;
    const ofRoots = new Map();
    for (let c = 0; c < this.cliques.length; c++) {
      const p = this.parent[c];
      if (p < 0) {
        ofRoots.set(c, reduce(sums[c], zeros[c], null, 1)[0]);
        logEvidence += ofRoots.get(c);
        up.push(null);
        continue;
      }
      const size = this.separators[c].size;
      const message = reduce(sums[c], zeros[c], this.toSeparator[c], size);
      multiply(sums[p], zeros[p], message, this.toParent[c]);
      up.push(message);
    }
    return { sums, zeros, up, logEvidence, ofRoots };
  }
}

/** What a network says of all variables, given evidence. */
class Answers {
  constructor(engine, evidence, sums, zeros, logEvidence, ofRoots) {
    this.engine = engine;
    this.evidence = evidence;
    this.sums = sums;
    this.zeros = zeros;
    this.logEvidence = logEvidence;
    this.ofRoots = ofRoots;
  }

  get isPossible() {
    return this.logEvidence > -Infinity;
  }

  /** The probability of each state of a variable; null under impossible evidence. */
  marginal(v) {
    if (!this.isPossible) return null;
    return normalised(this.#joint(v, false));
  }

  /**
   * The logarithm of the probability of each state of a variable together with all
   * other evidence, its own finding taken back.
   */
  without(v) {
    const own = this.engine.root[this.engine.home[v]];
    let elsewhere = 0;
    for (const [root, value] of this.ofRoots) if (root !== own) elsewhere += value;
    return this.#joint(v, this.evidence.has(v)).map((x) => x + elsewhere);
  }

  #joint(v, withoutOwn) {
    const { engine } = this;
    const c = engine.home[v];
    const stride = engine.cliques[c].strideOf(v);
    const r = engine.card[v];
    const at = new Int32Array(this.sums[c].length);
    for (let i = 0; i < at.length; i++) at[i] = Math.floor(i / stride) % r;
    let own = null;
    if (withoutOwn) {
      own = new Float64Array(r).fill(-Infinity);
      own[this.evidence.get(v)] = 0;
    }
    return marginal(this.sums[c], this.zeros[c], at, r, { without: own });
  }
}

/** Divide by the sum: from logarithms to probabilities. */
export function normalised(logs) {
  const most = Math.max(...logs);
  const shares = Float64Array.from(logs, (x) => Math.exp(x - most));
  const total = shares.reduce((a, b) => a + b, 0);
  return shares.map((x) => x / total);
}

/** Variables with strides, the first one varying fastest. */
class Table {
  constructor(members, card) {
    this.members = members;
    this.card = members.map((v) => card[v]);
    this.strides = [];
    let size = 1;
    for (const r of this.card) {
      this.strides.push(size);
      size *= r;
    }
    this.size = size;
  }

  strideOf(v) {
    return this.strides[this.members.indexOf(v)];
  }

  indexOf(states) {
    return this.members.reduce((sum, v, i) => sum + states[v] * this.strides[i], 0);
  }

  statesAt(index, states) {
    this.members.forEach((v, i) => {
      states[v] = Math.floor(index / this.strides[i]) % this.card[i];
    });
  }
}

/** The entry of a smaller table that each entry of a larger one belongs to. */
function mapping(larger, smaller) {
  const steps = larger.members.map((v) => {
    const at = smaller.members.indexOf(v);
    return at < 0 ? 0 : smaller.strides[at];
  });
  const result = new Int32Array(larger.size);
  const digits = new Uint16Array(steps.length);
  let at = 0;
  for (let i = 0; i < result.length; i++) {
    result[i] = at;
    for (let d = 0; d < steps.length; d++) {
      digits[d]++;
      at += steps[d];
      if (digits[d] < larger.card[d]) break;
      at -= steps[d] * larger.card[d];
      digits[d] = 0;
    }
  }
  return result;
}

function multiply(sums, zeros, values, at) {
  for (let i = 0; i < sums.length; i++) {
    const value = values[at[i]];
    if (value === -Infinity) zeros[i]++;
    else sums[i] += value;
  }
}

function logSum(sums, zeros, at, size) {
  return marginal(sums, zeros, at, size, { without: null });
}

/** Sum a table out, one of its factors taken back. */
function marginal(sums, zeros, at, size, { without }) {
  const most = new Float64Array(size).fill(-Infinity);
  const n = sums.length;
  const values = without ? new Float64Array(n) : sums;
  for (let i = 0; i < n; i++) {
    const to = at ? at[i] : 0;
    let count = zeros[i];
    if (without) {
      const own = without[to];
      if (own === -Infinity) {
        count--;
        values[i] = sums[i];
      } else values[i] = sums[i] - own;
      if (count) values[i] = -Infinity;
    } else if (count) continue;
    if (values[i] > most[to]) most[to] = values[i];
  }
  const total = new Float64Array(size);
  for (let i = 0; i < n; i++) {
    if (without ? values[i] === -Infinity : zeros[i]) continue;
    const to = at ? at[i] : 0;
    total[to] += Math.exp(values[i] - most[to]);
  }
  return total.map((x, k) => (x > 0 ? Math.log(x) + most[k] : -Infinity));
}

function logMax(sums, zeros, at, size) {
  const most = new Float64Array(size).fill(-Infinity);
  for (let i = 0; i < sums.length; i++) {
    const to = at ? at[i] : 0;
    if (!zeros[i] && sums[i] > most[to]) most[to] = sums[i];
  }
  return most;
}

// The junction tree.

/** Join variables into cliques; children come before their parents. */
function joinTree(model) {
  const costs = [fewestFillIns, smallestTable];
  const trees = costs.map((cost) => assemble(model, eliminate(model, cost)));
  return trees.reduce((a, b) => (b.total < a.total ? b : a));
}

function moralGraph({ parents }) {
  const near = parents.map(() => new Set());
  const join = (a, b) => {
    near[a].add(b);
    near[b].add(a);
  };
  parents.forEach((members, v) => {
    members.forEach((p, i) => {
      join(p, v);
      for (const q of members.slice(i + 1)) join(p, q);
    });
  });
  return near;
}

/** Eliminate the variables one by one, the one of least cost first. */
function eliminate(model, cost) {
  const near = moralGraph(model);
  const n = near.length;
  const size = (v) => {
    let product = model.card[v];
    for (const u of near[v]) product *= model.card[u];
    return product;
  };
  const costs = near.map((_, v) => cost(near, v, size));
  const left = new Set(near.keys());
  const order = [];
  const rest = new Array(n);
  while (left.size) {
    let best = -1;
    for (const v of left) {
      if (best < 0 || isLess(costs[v], costs[best])) best = v;
    }
    const members = [...near[best]];
    order.push(best);
    rest[best] = members;
    left.delete(best);
    const touched = new Set(members);
    for (const u of members) {
      near[u].delete(best);
      for (const w of members) {
        if (u < w && !near[u].has(w)) {
          near[u].add(w);
          near[w].add(u);
        }
      }
    }
    for (const u of members) for (const w of near[u]) touched.add(w);
    for (const u of touched) costs[u] = cost(near, u, size);
  }
  return { order, rest };
}

function isLess(a, b) {
  return a[0] < b[0] || (a[0] === b[0] && a[1] < b[1]);
}

function fewestFillIns(near, v, size) {
  const members = [...near[v]];
  let missing = 0;
  for (let i = 0; i < members.length; i++) {
    for (let j = i + 1; j < members.length; j++) {
      if (!near[members[i]].has(members[j])) missing++;
    }
  }
  return [missing, size(v)];
}

function smallestTable(near, v, size) {
  return [size(v), near[v].size];
}

function assemble(model, { order, rest }) {
  const place = new Array(order.length);
  order.forEach((v, i) => {
    place[v] = i;
  });
  const made = []; // from the roots on
  const of = new Array(order.length);
  for (const v of [...order].reverse()) {
    const members = rest[v];
    if (!members.length) {
      of[v] = made.push({ members: [v], parent: -1, separator: [] }) - 1;
      continue;
    }
    const first = members.reduce((a, b) => (place[a] < place[b] ? a : b));
    const above = made[of[first]];
    if (members.length === above.members.length) {
      above.members.push(v);
      of[v] = of[first];
    } else {
      const clique = {
        members: [v, ...members],
        parent: of[first],
        separator: members,
      };
      of[v] = made.push(clique) - 1;
    }
  }
  const last = made.length - 1;
  const cliques = made.map((clique) => clique.members).reverse();
  const parent = made.map((c) => (c.parent < 0 ? -1 : last - c.parent)).reverse();
  const separators = made.map((clique) => clique.separator).reverse();
  // The members of a family that is eliminated first has all others beside it.
  const host = model.parents.map((parents, v) => {
    const family = [v, ...parents];
    return last - of[family.reduce((a, b) => (place[a] < place[b] ? a : b))];
  });
  const home = of.map((c) => last - c);
  const sizes = cliques.map((c) =>
    c.reduce((product, v) => product * model.card[v], 1),
  );
  const largest = sizes.reduce((a, b) => Math.max(a, b), 1);
  const widest = cliques[sizes.indexOf(largest)]?.length ?? 0;
  const total = sizes.reduce((a, b) => a + b, 0);
  return { cliques, parent, separators, host, home, largest, widest, total };
}
