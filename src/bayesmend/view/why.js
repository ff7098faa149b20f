// Why a missing cell is filled as it is: what the observed cells of its row say.
//
// A row is evidence; "the others" are its observed cells but one. All answers for one
// cell taken back, or changed, come from one pass of messages per state of the target.

/** Single changes that pairs begin with, and milliseconds that pairs may take. */
const MOST_FIRST = 8;
const MOST_TIME = 1500;

/**
 * Explain a state of a variable in a row.
 *
 * @param {object} engine Of the network.
 * @param {Map<number, number>} evidence The observed cells of the row.
 * @param {number} target The variable.
 * @param {number} state What fills its cell.
 * @param {{now?: () => number, fixed?: (v: number) => boolean}} options A clock in
 *   milliseconds, and the variables that are not to be changed.
 * @returns {{shares, speaks: {v, weight}[], flips: object[], pairs: object}} `shares`:
 *   the probability of each state. `speaks`: by how much each observed cell raises the
 *   log-odds of the state, the strongest first. `flips`: the fewest changes of observed
 *   cells after which another state is the most probable. Null where the row is
 *   impossible.
 */
export function explain(engine, evidence, target, state, options = {}) {
  const { now = Date.now, fixed = () => false } = options;
  const { logs, joint } = passesOf(engine, evidence, target);
  if (Math.max(...logs) === -Infinity) return null;
  const shares = sharesOf(logs);
  const whole = logOdds(logs, state);
  const speaks = [...evidence.keys()].map((v) => {
    const without = joint.get(v).map(logTotal);
    return { v, weight: difference(whole, logOdds(without, state)) };
  });
  speaks.sort((a, b) => Math.abs(b.weight) - Math.abs(a.weight) || a.v - b.v);
  const singles = changes(joint, evidence, [], fixed);
  const flips = singles.filter((change) => change.best !== best(shares));
  const found = { shares, speaks, flips: strongest(flips, state), pairs: null };
  if (!flips.length)
    found.pairs = pairsOf(engine, evidence, target, singles, shares, { now, fixed });
  return found;
}

/**
 * Pass messages once per state of the target: the logarithm of the probability of all,
 * and of each state of an observed variable with all others, per state of the target.
 */
function passesOf(engine, evidence, target) {
  const passes = Array.from({ length: engine.card[target] }, (_, k) =>
    engine.infer(new Map(evidence).set(target, k)),
  );
  const joint = new Map();
  for (const v of evidence.keys())
    joint.set(
      v,
      passes.map((a) => a.without(v)),
    );
  return { logs: passes.map((answers) => answers.logEvidence), joint };
}

/** All rows that differ in one further cell, and what they make of the target. */
function changes(joint, evidence, before, isLeft) {
  const found = [];
  for (const [v, own] of evidence) {
    if (isLeft(v)) continue;
    joint.get(v)[0].forEach((_, k) => {
      if (k === own) return;
      const logs = joint.get(v).map((row) => row[k]);
      if (Math.max(...logs) === -Infinity) return;
      const shares = sharesOf(logs);
      found.push({ cells: [...before, { v, state: k }], shares, best: best(shares) });
    });
  }
  return found;
}

/** Change a second cell as well, beginning with what alone changes most. */
function pairsOf(engine, evidence, target, singles, shares, { now, fixed }) {
  const held = best(shares);
  const first = [...singles]
    .sort((a, b) => a.shares[held] - b.shares[held])
    .slice(0, MOST_FIRST);
  const end = now() + MOST_TIME;
  let looked = 0;
  const flips = [];
  for (const single of first) {
    if (looked && now() > end) break;
    const [cell] = single.cells;
    const changed = new Map(evidence).set(cell.v, cell.state);
    const { joint } = passesOf(engine, changed, target);
    const isLeft = (v) => v === cell.v || fixed(v);
    const found = changes(joint, changed, single.cells, isLeft);
    flips.push(...found.filter((change) => change.best !== held));
    looked++;
  }
  return { looked, of: singles.length, flips: strongest(flips, held) };
}

function strongest(flips, state) {
  return [...flips].sort((a, b) => a.shares[state] - b.shares[state]).slice(0, 5);
}

function best(shares) {
  return shares.indexOf(Math.max(...shares));
}

function sharesOf(logs) {
  const total = logTotal(logs);
  return Array.from(logs, (x) => Math.exp(x - total));
}

function logTotal(logs) {
  const most = Math.max(...logs);
  if (most === -Infinity) return most;
  return most + Math.log(logs.reduce((sum, x) => sum + Math.exp(x - most), 0));
}

function logOdds(logs, state) {
  const others = Array.from(logs).filter((_, k) => k !== state);
  return difference(logs[state], others.length ? logTotal(others) : -Infinity);
}

/** Infinite on both sides is the same: nothing is changed. */
function difference(a, b) {
  return a === b ? 0 : a - b;
}
