import assert from "node:assert/strict";
import { test } from "node:test";
import { pick, spread, within } from "../../src/bayesmend/view/layering.js";

const chain = { parents: [[], [0], [1], [2], []], children: [[1], [2], [3], [], []] };
const drawing = {
  boxHeight: 40,
  widths: [80, 80, 80, 80, 120],
  layer: [0, 1, 2, 3, 1],
  x: [40, 40, 40, 40, 500],
};
const arcs = [0, 1, 2].map((v) => ({ parent: v, child: v + 1 }));

test("steps go along arcs both ways", () => {
  assert.deepEqual(within(chain, 1, 0), [1]);
  assert.deepEqual(within(chain, 1, 1), [0, 1, 2]);
  assert.deepEqual(within(chain, 1, 9), [0, 1, 2, 3]);
});

test("what is picked moves together and keeps its layers", () => {
  const scene = pick(drawing, arcs, [1, 3, 4]);
  const box = Object.fromEntries(scene.boxes.map((b) => [b.v, b]));
  assert.equal(box[1].y, box[4].y);
  assert.ok(box[3].y > box[1].y && box[3].y - box[1].y < 100);
  assert.ok(box[4].x - box[1].x >= (80 + 120) / 2 + 26 - 1e-9);
  assert.deepEqual(scene.arcs, []);
  assert.ok(scene.boxes.every((b) => b.x - b.width / 2 >= 0));
  assert.ok(scene.boxes.every((b) => b.x + b.width / 2 <= scene.width));
});

test("a wide layer is broken into rows", () => {
  const n = 41;
  const wide = {
    boxHeight: 40,
    widths: Array(n).fill(80),
    layer: [0, ...Array(n - 1).fill(1)],
    x: [...Array(n).keys()].map((v) => 110 * v),
  };
  const scene = pick(wide, [], [...Array(n).keys()]);
  const rows = new Set(scene.boxes.map((box) => box.y));
  assert.equal(rows.size, 1 + 4);
  assert.ok(scene.width < 12 * 110);
  for (const y of rows) {
    const row = scene.boxes.filter((box) => box.y === y).sort((a, b) => a.x - b.x);
    row.slice(1).forEach((box, i) => {
      assert.ok(box.x - row[i].x >= 106 - 1e-9);
    });
  }
});

test("arcs begin and end at their boxes", () => {
  const scene = pick(drawing, arcs, [0, 1, 2, 3]);
  const box = Object.fromEntries(scene.boxes.map((b) => [b.v, b]));
  for (const { arc, curve } of scene.arcs) {
    const [x0, y0, x1, y1] = [curve.split(/[MC ,]/), curve.split(/[ ,]/)].flatMap(
      (parts, i) => (i ? parts.slice(-2) : parts.slice(1, 3)).map(Number),
    );
    assert.deepEqual([x0, y0], [box[arc.parent].x, box[arc.parent].y + 40]);
    assert.deepEqual([x1, y1], [box[arc.child].x, box[arc.child].y - 8]);
  }
});

test("an arc over several rows passes beside what is between its ends", () => {
  const long = { parent: 0, child: 2 };
  const scene = pick(drawing, [...arcs, long], [0, 1, 2, 3]);
  const between = scene.boxes.find((box) => box.v === 1);
  const { curve } = scene.arcs.find(({ arc }) => arc === long);
  const points = curve
    .split(/[MC ]+/)
    .filter(Boolean)
    .map((point) => point.split(",").map(Number));
  const beside = points.filter(([, y]) => y >= between.y && y <= between.y + 40);
  assert.ok(beside.length >= 2);
  for (const [x] of beside) {
    assert.ok(Math.abs(x - between.x) > between.width / 2, "not through the box");
  }
  assert.ok(scene.boxes.every((box) => box.x + box.width / 2 <= scene.width));
});

test("places are those of least squares under an order", () => {
  // Far enough apart: as wanted. Else: pooled around the mean of what is wanted.
  assert.deepEqual(spread([0, 500], [80, 80]), [0, 500]);
  assert.deepEqual(spread([10, 10], [80, 80]), [-43, 63]);
  const found = spread([300, 0, 310], [80, 80, 80]);
  const cost = (places) =>
    places.reduce((sum, x, i) => sum + (x - [300, 0, 310][i]) ** 2, 0);
  for (const [i, by] of [
    [0, -1],
    [2, 1],
  ]) {
    const moved = found.map((x, j) => (j === i ? x + by : x));
    assert.ok(cost(moved) >= cost(found));
  }
});
