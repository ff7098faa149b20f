// The neighbourhood of a variable as a drawing of its own.
//
// Layers and the order within them are those of the whole drawing, which the library
// computes; here they are only moved together. The same input gives the same drawing.

const GAP = 26;
const STEP = 92;
const MARGIN = 6;
const ARROW = 8;
const SWEEPS = 8;
const MOST_IN_ROW = 10;

/** Variables within so many steps of one, along arcs in either direction. */
export function within(session, start, steps) {
  const found = new Set([start]);
  let edge = [start];
  for (let step = 0; step < steps; step++) {
    const next = [];
    for (const v of edge) {
      for (const u of [...session.parents[v], ...session.children[v]]) {
        if (!found.has(u)) {
          found.add(u);
          next.push(u);
        }
      }
    }
    edge = next;
  }
  return [...found].sort((a, b) => a - b);
}

/**
 * Draw some of the variables, moved together.
 *
 * @returns {{width, height, boxes: {v, x, y, width}[], arcs: {arc, curve, head}[]}}
 */
export function pick(drawing, arcs, members) {
  const chosen = new Set(members);
  const numbers = [...new Set(members.map((v) => drawing.layer[v]))].sort(
    (a, b) => a - b,
  );
  const layers = numbers.flatMap((number) => {
    const row = members
      .filter((v) => drawing.layer[v] === number)
      .sort((a, b) => drawing.x[a] - drawing.x[b] || a - b);
    return broken(row);
  });
  const kept = arcs.filter((arc) => chosen.has(arc.parent) && chosen.has(arc.child));
  const x = spreadLayers(layers, kept, drawing.widths);
  const level = new Map();
  layers.forEach((row, number) => {
    for (const v of row) level.set(v, number);
  });
  const top = (v) => MARGIN + level.get(v) * STEP;
  const boxes = members.map((v) => ({
    v,
    x: x.get(v),
    y: top(v),
    width: drawing.widths[v],
  }));
  const right = Math.max(...boxes.map((box) => box.x + box.width / 2));
  return {
    width: right + MARGIN,
    height: (layers.length - 1) * STEP + drawing.boxHeight + 2 * MARGIN,
    boxes,
    arcs: kept.map((arc) => {
      const from = [x.get(arc.parent), top(arc.parent) + drawing.boxHeight];
      const to = [x.get(arc.child), top(arc.child) - ARROW];
      return { arc, ...curve(from, to) };
    }),
  };
}

/** Break a layer that would be too wide to read into rows. */
function broken(row) {
  const n = Math.ceil(row.length / MOST_IN_ROW);
  const length = Math.ceil(row.length / n);
  return Array.from({ length: n }, (_, i) => row.slice(i * length, (i + 1) * length));
}

function curve([x0, y0], [x1, y1]) {
  const middle = (y0 + y1) / 2;
  const f = (value) => value.toFixed(1);
  return {
    curve: `M${f(x0)},${f(y0)} C${f(x0)},${f(middle)} ${f(x1)},${f(middle)} ${f(x1)},${f(y1)}`,
    head: `M${f(x1 - 3.5)},${f(y1)}h7l-3.5,${ARROW}z`,
  };
}

/** Move every variable towards its neighbours as far as its layer allows. */
function spreadLayers(layers, arcs, widths) {
  const near = new Map();
  const join = (a, b) => near.set(a, [...(near.get(a) ?? []), b]);
  for (const { parent, child } of arcs) {
    join(parent, child);
    join(child, parent);
  }
  const x = new Map();
  for (const row of layers) {
    let left = 0;
    for (const v of row) {
      x.set(v, left + widths[v] / 2);
      left += widths[v] + GAP;
    }
    for (const v of row) x.set(v, x.get(v) - (left - GAP) / 2);
  }
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const rows = sweep % 2 ? [...layers].reverse() : layers;
    for (const row of rows) {
      const wanted = row.map((v) => mean((near.get(v) ?? [v]).map((u) => x.get(u))));
      spread(row, wanted, widths).forEach((value, i) => {
        x.set(row[i], value);
      });
    }
  }
  const left = Math.min(...[...x].map(([v, value]) => value - widths[v] / 2));
  for (const [v, value] of x) x.set(v, value - left + MARGIN);
  return x;
}

function mean(values) {
  return values.reduce((a, b) => a + b, 0) / values.length;
}

/** Come as near to the wanted places as order and widths allow, by least squares. */
export function spread(row, wanted, widths) {
  const offsets = [0];
  for (let i = 1; i < row.length; i++) {
    const apart = (widths[row[i - 1]] + widths[row[i]]) / 2 + GAP;
    offsets.push(offsets[i - 1] + apart);
  }
  const pools = [];
  wanted.forEach((place, i) => {
    let pool = { mean: place - offsets[i], n: 1 };
    while (pools.length && pools.at(-1).mean >= pool.mean) {
      const other = pools.pop();
      const n = other.n + pool.n;
      pool = { mean: (other.mean * other.n + pool.mean * pool.n) / n, n };
    }
    pools.push(pool);
  });
  return pools.flatMap((p) => Array(p.n).fill(p.mean)).map((m, i) => m + offsets[i]);
}
