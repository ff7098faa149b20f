import assert from "node:assert/strict";
import { test } from "node:test";
import { CellStore } from "../../src/bayesmend/view/cells.js";

const packed = (Kind, values) =>
  Buffer.from(Kind.from(values).buffer).toString("base64");

const session = {
  names: ["a", "b", "=c"],
  states: [
    ["no", "yes"],
    ["10", "9", "-"],
    ["x", 'say "x", y'],
  ],
};

const store = (more = {}) =>
  new CellStore(
    {
      measure: "margin",
      rows: packed(Int32Array, [0, 0, 7, 9]),
      variables: packed(Uint16Array, [0, 1, 1, 2]),
      codes: packed(Uint8Array, [1, 0, 1, 1]),
      runners: packed(Uint8Array, [0, 2, 1, 0]),
      sure: packed(Float64Array, [0.5, 2, Infinity, 0.25]),
      supported: packed(Uint8Array, [1, 0, 1, 1]),
      records: {
        rows: packed(Int32Array, [0, 7]),
        codes: packed(Uint8Array, [1, 0, 0, 255, 1, 1]),
      },
      ...more,
    },
    session,
  );

test("cells are told with their labels", () => {
  const cells = store();
  assert.equal(cells.length, 4);
  assert.deepEqual(
    [cells.name(1), cells.state(1), cells.runnerUp(1)],
    ["b", "10", "-"],
  );
  assert.equal(cells.runnerUp(2), null);
  assert.equal(cells.told(2), "none other");
  assert.equal(cells.isSupported(1), false);
});

test("cells are filtered by all that is asked together", () => {
  const cells = store();
  const all = { by: "row", down: false };
  assert.deepEqual(cells.pick(all), [0, 1, 2, 3]);
  assert.deepEqual(cells.pick({ ...all, variable: 1 }), [1, 2]);
  assert.deepEqual(cells.pick({ ...all, variable: 1, row: 7 }), [2]);
  assert.deepEqual(cells.pick({ ...all, most: 0.5 }), [0, 3]);
  assert.deepEqual(cells.pick({ ...all, support: false }), [1]);
  assert.deepEqual(cells.pick({ ...all, text: " SAY" }), [3]);
});

test("cells are sorted by any column, both ways, infinity included", () => {
  const cells = store();
  assert.deepEqual(cells.pick({ by: "sure", down: false }), [3, 0, 1, 2]);
  assert.deepEqual(cells.pick({ by: "sure", down: true }), [2, 1, 0, 3]);
  // Numbers in labels count as numbers.
  assert.deepEqual(cells.pick({ by: "state", variable: 1 }), [2, 1]);
  assert.deepEqual(cells.pick({ by: "row", down: true }), [3, 2, 0, 1]);
});

test("the observed cells of a row are its record without what was filled", () => {
  const cells = store();
  assert.deepEqual([...cells.evidence(0)], [[2, 0]]);
  assert.deepEqual([...cells.evidence(2)], [[2, 1]]);
  assert.equal(cells.evidence(3), null);
});

test("CSV quotes what it must, and formulas where that was asked for", () => {
  const plain = store().csv([3, 1, 2]).split("\n");
  assert.equal(plain[0], "row,variable,state,margin,runner_up,supported");
  assert.equal(plain[1], '9,=c,"say ""x"", y",0.25,x,True');
  assert.equal(plain[2], "0,b,10,2,-,False");
  assert.equal(plain[3], "7,b,9,inf,,True");
  const safe = store({ safe: true }).csv([3, 1]).split("\n");
  assert.ok(safe[1].startsWith("9,'=c,"));
  assert.equal(safe[2], "0,b,10,2,'-,False");
});

test("rows have the labels of the table", () => {
  const cells = store({ labels: { 0: "first", 7: "eighth", 9: "tenth" } });
  assert.equal(cells.rowLabel(3), "tenth");
  const [head, line] = cells.csv([0]).split("\n");
  assert.equal(head, "row,variable,state,margin,runner_up,row_label,supported");
  assert.equal(line, "0,a,yes,0.5,no,first,True");
});
