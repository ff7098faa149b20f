// What the cells of a row say, against the network asked anew for every question.

import assert from "node:assert/strict";
import { test } from "node:test";
import { compile, normalised } from "../../src/bayesmend/view/inference.js";
import { explain } from "../../src/bayesmend/view/why.js";

/** A disease with two symptoms, a test of it, and a variable that tells nothing. */
const model = {
  card: [2, 2, 2, 3, 2],
  parents: [[], [0], [0], [0], []],
  cpts: [
    [0.7, 0.3],
    [0.9, 0.1, 0.3, 0.7],
    [0.8, 0.2, 0.4, 0.6],
    [0.8, 0.15, 0.05, 0.1, 0.2, 0.7],
    [0.5, 0.5],
  ],
};

const engine = compile(model);

function share(evidence, state) {
  return engine.infer(evidence).marginal(0)[state];
}

test("a weight is what the log-odds lose when the cell is taken away", () => {
  const evidence = new Map([
    [1, 1],
    [2, 0],
    [3, 2],
    [4, 1],
  ]);
  const found = explain(engine, evidence, 0, 1);
  const odds = (p) => Math.log(p / (1 - p));
  assert.ok(Math.abs(found.shares[1] - share(evidence, 1)) < 1e-12);
  assert.equal(found.speaks.length, 4);
  for (const { v, weight } of found.speaks) {
    const others = new Map(evidence);
    others.delete(v);
    const lost = odds(share(evidence, 1)) - odds(share(others, 1));
    assert.ok(Math.abs(weight - lost) < 1e-9, `${v}`);
  }
  const weights = Object.fromEntries(found.speaks.map((s) => [s.v, s.weight]));
  assert.ok(weights[3] > 0 && weights[1] > 0 && weights[2] < 0);
  assert.ok(Math.abs(weights[4]) < 1e-9);
  assert.equal(found.speaks[0].v, 3);
});

test("all single changes that flip a state are known, and only those", () => {
  const evidence = new Map([
    [1, 1],
    [2, 0],
    [3, 1],
  ]);
  const state = share(evidence, 0) > 0.5 ? 0 : 1;
  const expected = [];
  for (const [v, own] of evidence) {
    for (let k = 0; k < model.card[v]; k++) {
      const changed = new Map(evidence).set(v, k);
      if (k !== own && share(changed, state) < 0.5) expected.push(`${v}=${k}`);
    }
  }
  const found = explain(engine, evidence, 0, state);
  const told = found.flips.map(({ cells }) => `${cells[0].v}=${cells[0].state}`);
  assert.deepEqual([...told].sort(), expected.sort());
  assert.ok(expected.length > 0);
  const drops = found.flips.map(({ shares }) => shares[state]);
  assert.deepEqual(
    drops,
    [...drops].sort((a, b) => a - b),
  );
  assert.equal(found.pairs, null);
});

test("where no single change flips it, pairs are looked at", () => {
  const evidence = new Map([
    [1, 1],
    [2, 1],
    [3, 2],
  ]);
  const found = explain(engine, evidence, 0, 1);
  assert.deepEqual(found.flips, []);
  assert.ok(found.pairs.looked > 0);
  assert.ok(found.pairs.flips.length > 0);
  for (const { cells, shares } of found.pairs.flips) {
    assert.equal(new Set(cells.map((c) => c.v)).size, 2);
    const changed = new Map(evidence);
    for (const { v, state } of cells) changed.set(v, state);
    assert.ok(Math.abs(shares[1] - share(changed, 1)) < 1e-9);
    assert.ok(shares[1] < 0.5);
  }
});

test("time for pairs is bounded, and how many were looked at is told", () => {
  let clock = 0;
  const now = () => {
    clock += 1000;
    return clock;
  };
  const evidence = new Map([
    [1, 1],
    [2, 1],
    [3, 2],
  ]);
  const found = explain(engine, evidence, 0, 1, { now });
  assert.equal(found.pairs.looked, 2);
  assert.equal(found.pairs.of, 4);
});

test("what is certain has no odds to lose, and what is impossible is said", () => {
  const certain = compile({
    card: [2, 2],
    parents: [[], [0]],
    cpts: [
      [1, 0],
      [0.5, 0.5, 1, 0],
    ],
  });
  const found = explain(certain, new Map([[1, 0]]), 0, 0);
  assert.deepEqual(found.speaks, [{ v: 1, weight: 0 }]);
  const never = compile({
    card: [2, 2],
    parents: [[], [0]],
    cpts: [
      [0.5, 0.5],
      [1, 0, 1, 0],
    ],
  });
  assert.equal(explain(never, new Map([[1, 1]]), 0, 0), null);
});

test("cells of another part of the network say nothing", () => {
  const found = explain(engine, new Map([[4, 0]]), 0, 0);
  assert.ok(Math.abs(found.speaks[0].weight) < 1e-12);
  assert.deepEqual(found.shares.length, 2);
  assert.ok(normalised(found.shares.map(Math.log))[0] > 0.69);
});
