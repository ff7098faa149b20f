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
const PASSING = 4; // width kept free for an arc that passes
const MOST_PASSING = 60; // of a drawing; further arcs run behind what is in their way

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
  const kept = arcs.filter((arc) => chosen.has(arc.parent) && chosen.has(arc.child));
  const numbers = [...new Set(members.map((v) => drawing.layer[v]))];
  const rows = numbers
    .sort((a, b) => a - b)
    .flatMap((number) => {
      const row = members.filter((v) => drawing.layer[v] === number);
      return broken(row.sort((a, b) => drawing.x[a] - drawing.x[b] || a - b));
    });
  const plan = new Plan(drawing, rows);
  for (const arc of kept) plan.join(arc);
  const x = spreadLayers(plan);
  const top = (level) => MARGIN + level * STEP;
  const boxes = members.map((v) => ({
    v,
    x: x.get(v),
    y: top(plan.level.get(v)),
    width: drawing.widths[v],
  }));
  const right = Math.max(...boxes.map((box) => box.x + box.width / 2));
  return {
    width: right + MARGIN,
    height: top(rows.length - 1) + drawing.boxHeight + MARGIN,
    boxes,
    arcs: kept.map((arc, i) => {
      const course = plan.chains[i];
      const points = [];
      course.forEach((item, step) => {
        const y = top(plan.level.get(item));
        if (step) points.push([x.get(item), y]);
        if (step < course.length - 1) points.push([x.get(item), y + drawing.boxHeight]);
      });
      points.at(-1)[1] -= ARROW;
      return { arc, ...curve(points) };
    }),
  };
}

/** Rows of variables, and of places where long arcs pass between them. */
class Plan {
  constructor(drawing, rows) {
    this.drawing = drawing;
    this.rows = rows.map((row) => [...row]);
    this.level = new Map(rows.flatMap((row, i) => row.map((v) => [v, i])));
    this.at = new Map(rows.flat().map((v) => [v, drawing.x[v]]));
    this.near = new Map();
    this.chains = [];
    this.passing = 0;
  }

  /** A variable is wide; what passes is not. */
  width(item) {
    return item < 0 ? PASSING : this.drawing.widths[item];
  }

  join({ parent, child }) {
    const [from, to] = [this.level.get(parent), this.level.get(child)];
    const chain = [parent];
    for (let level = from + 1; level < to && this.passing < MOST_PASSING; level++) {
      this.passing++;
      const item = -this.passing;
      const share = (level - from) / (to - from);
      this.level.set(item, level);
      const [x0, x1] = [this.at.get(parent), this.at.get(child)];
      this.at.set(item, x0 + share * (x1 - x0));
      const row = this.rows[level];
      const before = row.findIndex((other) => this.at.get(other) >= this.at.get(item));
      row.splice(before < 0 ? row.length : before, 0, item);
      chain.push(item);
    }
    chain.push(child);
    for (let i = 1; i < chain.length; i++) {
      this.meet(chain[i - 1], chain[i]);
      this.meet(chain[i], chain[i - 1]);
    }
    this.chains.push(chain);
  }

  meet(a, b) {
    if (!this.near.has(a)) this.near.set(a, []);
    this.near.get(a).push(b);
  }
}

/** Break a layer that would be too wide to read into rows. */
function broken(row) {
  const n = Math.ceil(row.length / MOST_IN_ROW);
  const length = Math.ceil(row.length / n);
  return Array.from({ length: n }, (_, i) => row.slice(i * length, (i + 1) * length));
}

function curve(points) {
  const f = (value) => value.toFixed(1);
  const steps = points.slice(1).map(([x1, y1], i) => {
    const [x0, y0] = points[i];
    const middle = (y0 + y1) / 2;
    return `C${f(x0)},${f(middle)} ${f(x1)},${f(middle)} ${f(x1)},${f(y1)}`;
  });
  const [x, y] = points.at(-1);
  return {
    curve: `M${f(points[0][0])},${f(points[0][1])} ${steps.join(" ")}`,
    head: `M${f(x - 3.5)},${f(y)}h7l-3.5,${ARROW}z`,
  };
}

/** Move everything towards its neighbours as far as its row allows. */
function spreadLayers(plan) {
  const { rows, near } = plan;
  const widths = (row) => row.map((item) => plan.width(item));
  const x = new Map();
  for (const row of rows) {
    let left = 0;
    for (const item of row) {
      x.set(item, left + plan.width(item) / 2);
      left += plan.width(item) + GAP;
    }
    for (const item of row) x.set(item, x.get(item) - (left - GAP) / 2);
  }
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    for (const row of sweep % 2 ? [...rows].reverse() : rows) {
      const wanted = row.map((item) =>
        mean((near.get(item) ?? [item]).map((u) => x.get(u))),
      );
      spread(wanted, widths(row)).forEach((value, i) => {
        x.set(row[i], value);
      });
    }
  }
  const left = Math.min(...[...x].map(([item, at]) => at - plan.width(item) / 2));
  for (const [item, value] of x) x.set(item, value - left + MARGIN);
  return x;
}

function mean(values) {
  return values.reduce((a, b) => a + b, 0) / values.length;
}

/** Come as near to the wanted places as order and widths allow, by least squares. */
export function spread(wanted, widths) {
  const offsets = [0];
  for (let i = 1; i < wanted.length; i++) {
    const apart = (widths[i - 1] + widths[i]) / 2 + GAP;
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
