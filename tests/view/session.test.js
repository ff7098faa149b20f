import assert from "node:assert/strict";
import { test } from "node:test";
import { Session } from "../../src/bayesmend/view/session.js";

const packed = (values) =>
  Buffer.from(Float64Array.from(values).buffer).toString("base64");

const rain = () =>
  new Session({
    names: ["rain", "wet", "sprinkler"],
    states: [
      ["no", "yes"],
      ["no", "yes"],
      ["off", "on"],
    ],
    parents: [[], [0, 2], []],
    arcs: [],
    cpts: packed([0.8, 0.2, 1, 0, 0.2, 0.8, 0.1, 0.9, 0, 1, 0.6, 0.4]),
  });

test("evidence moves what is not known, and can be taken back", () => {
  const session = rain();
  const told = [];
  session.on((kind) => told.push(kind));
  const before = session.answers.marginal(0)[1];
  assert.ok(Math.abs(before - 0.2) < 1e-12);
  session.toggle(1, 1);
  assert.deepEqual(session.given, { wet: "yes" });
  const joint = 0.2 * (0.6 * 0.8 + 0.4 * 1);
  const other = 0.8 * 0.4 * 0.9;
  assert.ok(Math.abs(session.answers.marginal(0)[1] - joint / (joint + other)) < 1e-12);
  session.toggle(1, 1);
  assert.deepEqual(session.given, {});
  assert.deepEqual(told, ["evidence", "evidence"]);
});

test("the other parents of children are in the blanket", () => {
  assert.deepEqual(rain().blanket(0), [1, 2]);
  assert.deepEqual(rain().blanket(1), [0, 2]);
});

test("evidence is read by names, and unknown ones are refused", () => {
  const session = rain();
  session.replace(session.read({ rain: "yes" }));
  assert.deepEqual([...session.evidence], [[0, 1]]);
  assert.throws(() => session.read({ snow: "yes" }), /no variable "snow"/);
  assert.throws(() => session.read({ rain: "much" }), /"rain" has no state "much"/);
});

test("who no longer listens is not told", () => {
  const session = rain();
  let told = 0;
  const leave = session.on(() => {
    told++;
  });
  session.select(1);
  session.select(1);
  leave();
  session.select(2);
  assert.equal(told, 1);
});
