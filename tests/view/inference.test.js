// The engine of the page against sums over all joint states.

import assert from "node:assert/strict";
import { test } from "node:test";
import { compile, TooWide } from "../../src/bayesmend/view/inference.js";

function randomNumbers(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** A network with up to 7 variables; some probabilities are 0. */
function randomModel(random) {
  const n = 1 + Math.floor(random() * 7);
  const card = Array.from({ length: n }, () => 1 + Math.floor(random() * 4));
  const parents = card.map((_, v) => {
    const others = [...Array(v).keys()].filter(() => random() < 0.45);
    return others.slice(0, 3).reverse();
  });
  const cpts = parents.map((members, v) => {
    const configs = members.reduce((product, p) => product * card[p], 1);
    const rows = [];
    for (let j = 0; j < configs; j++) {
      const row = Array.from({ length: card[v] }, () =>
        random() < 0.25 ? 0 : random(),
      );
      row[Math.floor(random() * card[v])] += 0.1;
      const total = row.reduce((a, b) => a + b, 0);
      rows.push(...row.map((x) => x / total));
    }
    return rows;
  });
  return { card, parents, cpts };
}

function* jointStates(card) {
  const states = card.map(() => 0);
  for (;;) {
    yield states;
    let v = 0;
    while (v < card.length && ++states[v] === card[v]) states[v++] = 0;
    if (v === card.length) return;
  }
}

function jointProbability({ card, parents, cpts }, states) {
  return parents.reduce((product, members, v) => {
    let row = 0;
    for (const p of [...members].reverse()) row = row * card[p] + states[p];
    return product * cpts[v][row * card[v] + states[v]];
  }, 1);
}

/** All answers by enumeration. */
function enumerated(model, evidence) {
  const marginals = model.card.map((r) => new Array(r).fill(0));
  let total = 0;
  let most = 0;
  for (const states of jointStates(model.card)) {
    if ([...evidence].some(([v, k]) => states[v] !== k)) continue;
    const p = jointProbability(model, states);
    total += p;
    most = Math.max(most, p);
    states.forEach((k, v) => {
      marginals[v][k] += p;
    });
  }
  return { marginals, total, most };
}

function randomEvidence(model, random) {
  const evidence = new Map();
  model.card.forEach((r, v) => {
    if (random() < 0.4) evidence.set(v, Math.floor(random() * r));
  });
  return evidence;
}

function assertClose(found, expected, message) {
  const near = Math.abs(found - expected) <= 1e-12 + 1e-10 * Math.abs(expected);
  assert.ok(near, `${message}: ${found} is not ${expected}`);
}

test("all answers are those of the joint distribution", () => {
  const random = randomNumbers(7);
  let impossible = 0;
  for (let round = 0; round < 300; round++) {
    const model = randomModel(random);
    const engine = compile(model);
    const evidence = randomEvidence(model, random);
    const expected = enumerated(model, evidence);
    const answers = engine.infer(evidence);
    assertClose(Math.exp(answers.logEvidence), expected.total, "evidence");
    if (expected.total === 0) {
      impossible++;
      assert.equal(answers.isPossible, false);
      assert.equal(answers.marginal(0), null);
      assert.equal(engine.mostProbable(evidence), null);
      continue;
    }
    model.card.forEach((r, v) => {
      const found = answers.marginal(v);
      for (let k = 0; k < r; k++) {
        assertClose(found[k], expected.marginals[v][k] / expected.total, "marginal");
      }
    });
    const best = engine.mostProbable(evidence);
    assertClose(Math.exp(best.logProbability), expected.most, "most probable");
    assertClose(jointProbability(model, best.states), expected.most, "its states");
    for (const [v, k] of evidence) assert.equal(best.states[v], k);
  }
  assert.ok(impossible > 10, "some evidence was meant to be impossible");
});

test("a finding can be taken back from what all others say", () => {
  const random = randomNumbers(11);
  let taken = 0;
  for (let round = 0; round < 200; round++) {
    const model = randomModel(random);
    const evidence = randomEvidence(model, random);
    const answers = compile(model).infer(evidence);
    for (const v of evidence.keys()) {
      const others = new Map(evidence);
      others.delete(v);
      const expected = enumerated(model, others);
      answers.without(v).forEach((x, k) => {
        assertClose(Math.exp(x), expected.marginals[v][k], "without its own finding");
      });
      taken++;
    }
  }
  assert.ok(taken > 200);
});

test("a contradiction is told without what has no part in it", () => {
  const model = {
    card: [2, 2, 2, 2],
    parents: [[], [0], [], [1]],
    cpts: [
      [0.5, 0.5],
      [1, 0, 0, 1],
      [0.5, 0.5],
      [0.9, 0.1, 0.2, 0.8],
    ],
  };
  const engine = compile(model);
  const evidence = new Map([
    [2, 1],
    [0, 0],
    [3, 1],
    [1, 1],
  ]);
  assert.deepEqual(engine.conflict(evidence).sort(), [0, 1]);
  assert.deepEqual(engine.conflict(new Map([[0, 0]])), []);
});

test("probabilities far below the smallest number keep their ratios", () => {
  // A class of two states with 400 children, each of which nearly excludes both.
  const n = 400;
  const card = Array(n + 1).fill(2);
  const parents = [[], ...Array.from({ length: n }, () => [0])];
  const cpts = [
    [0.5, 0.5],
    ...Array.from({ length: n }, (_, i) =>
      i % 2 ? [1e-9, 1 - 1e-9, 2e-9, 1 - 2e-9] : [2e-9, 1 - 2e-9, 1e-9, 1 - 1e-9],
    ),
  ];
  const evidence = new Map(Array.from({ length: n }, (_, i) => [i + 1, 0]));
  const answers = compile({ card, parents, cpts }).infer(evidence);
  assert.ok(answers.logEvidence < -8000 && answers.logEvidence > -9000);
  assertClose(answers.marginal(0)[0], 0.5, "as many for as against");
});

test("too wide a network is refused with the size that it would take", () => {
  const n = 12;
  const card = Array(n).fill(4);
  const parents = card.map((_, v) => (v === n - 1 ? [...Array(n - 1).keys()] : []));
  const cpts = parents.map(() => []);
  assert.throws(
    () => compile({ card, parents, cpts }, { limit: 1000 }),
    (error) =>
      error instanceof TooWide &&
      error.largest === 4 ** 12 &&
      error.message.includes("16,777,216 entries over 12 variables"),
  );
  const chain = { card: [4, 4, 4], parents: [[], [0], [1]], cpts: [[], [], []] };
  assert.throws(
    () => compile(chain, { together: 31 }),
    /tables of 32 entries together/,
  );
});
