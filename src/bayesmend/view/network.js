// A network that can be moved, searched and asked: `mount(element, data, options)`.

import { count, element, percent, shape } from "./dom.js";
import { pick, within } from "./layering.js";
import { Session } from "./session.js";
import { heatMap, shareTable, stateBars } from "./tables.js";

const CLOSEST = 3; // scale
const MOST_STEPS = 6;
const MAP_WIDTH = 320;
const LEGIBLE = 0.3; // scale

/**
 * Show a network in an element of a page.
 *
 * @param {Element} host Where; what it contains is replaced.
 * @param {object} data What `bayesmend.view.describe` returns.
 * @param {{session?: Session, command?: string, details?: (v: number) => Node}} options
 *   A session that other views share; the command that answers what the page cannot;
 *   what else to show of a chosen variable.
 * @returns {{setEvidence, select, onChange, destroy, session}} `setEvidence` takes an
 *   object of names and states, `select` a name or null; `onChange` calls back with
 *   `{evidence, selected}` after every change, and returns how to end that.
 */
export function mount(host, data, options = {}) {
  const session = options.session ?? new Session(data);
  const view = new NetworkView(host, data, session, options);
  return {
    session,
    setEvidence: (given) => session.replace(session.read(given)),
    select: (name) => {
      const v = name === null ? null : session.position.get(name);
      if (v === undefined) throw new Error(`There is no variable "${name}".`);
      session.select(v);
    },
    onChange: (callback) =>
      session.on(() =>
        callback({
          evidence: session.given,
          selected: session.selected === null ? null : session.names[session.selected],
        }),
      ),
    destroy: () => view.destroy(),
  };
}

class NetworkView {
  constructor(host, data, session, options) {
    this.host = host;
    this.data = data;
    this.session = session;
    this.options = options;
    this.isWhole = data.names.length <= data.drawing.wholeUpTo;
    this.steps = 1;
    this.scale = 1;
    this.left = 0;
    this.top = 0;
    this.isMoved = false;
    this.boxes = new Map();
    this.curves = [];
    this.pointers = new Map();
    this.build();
    if (!this.isWhole && session.selected === null) session.select(mostJoined(session));
    this.leave = session.on((kind) => this.update(kind));
    this.draw();
    // What would be too small to read begins around the variable with most arcs.
    if (this.scale < LEGIBLE && data.names.length) this.centre(mostJoined(session));
    this.observer = new ResizeObserver(() => {
      if (!this.isMoved) this.fit();
    });
    this.observer.observe(this.stage);
  }

  destroy() {
    this.leave();
    this.observer.disconnect();
    this.host.replaceChildren();
  }

  // What it is made of.

  build() {
    const { names } = this.data;
    this.root = shape("g");
    this.svg = shape(
      "svg",
      { class: "bm-drawing", role: "group", "aria-label": "The network" },
      this.root,
    );
    this.stage = element("div", { class: "bm-stage" }, this.svg);
    this.tip = element("div", { class: "bm-tip", hidden: true });
    this.stage.append(this.tip);
    this.found = element("span", { class: "bm-soft", role: "status" });
    this.search = element("input", {
      type: "search",
      class: "bm-search",
      placeholder: "Find a variable",
      "aria-label": "Find a variable",
      autocomplete: "off",
      oninput: () => this.mark(),
      onkeydown: (event) => {
        if (event.key === "Enter") this.nextMatch();
      },
    });
    const button = (label, name, onclick) =>
      element(
        "button",
        { type: "button", "aria-label": name, title: name, onclick },
        label,
      );
    this.tools = element(
      "div",
      { class: "bm-tools" },
      this.search,
      button("+", "Zoom in", () => this.zoom(1.3)),
      button("−", "Zoom out", () => this.zoom(1 / 1.3)),
      button("Fit", "Fit the drawing", () => this.fit()),
      this.found,
    );
    this.panel = element("section", { class: "bm-panel", "aria-label": "Variable" });
    const split = element("div", { class: "bm-split" }, this.stage, this.panel);
    if (!this.isWhole) {
      this.told = element("span", { class: "bm-soft" });
      const step = (by) => () => {
        this.steps = Math.min(MOST_STEPS, Math.max(1, this.steps + by));
        this.draw();
      };
      this.tools.append(
        button("Fewer", "One step less around the variable", step(-1)),
        button("More", "One step more around the variable", step(1)),
        this.told,
      );
      this.map = this.overview();
      this.stage.append(this.map);
    }
    this.host.replaceChildren(element("div", { class: "bm" }, this.tools, split));
    this.listen();
    this.search.setAttribute(
      "placeholder",
      `Find one of ${count(names.length)} variables`,
    );
  }

  listen() {
    this.svg.addEventListener(
      "wheel",
      (event) => {
        // A page scrolls over a drawing, unless it is meant.
        if (!event.ctrlKey && !event.metaKey) return;
        event.preventDefault();
        this.zoom(Math.exp(-event.deltaY / 300), this.place(event));
      },
      { passive: false },
    );
    this.svg.addEventListener("pointerdown", (event) => this.press(event));
    this.svg.addEventListener("pointermove", (event) => this.move(event));
    for (const kind of ["pointerup", "pointercancel", "pointerleave"]) {
      this.svg.addEventListener(kind, (event) => this.pointers.delete(event.pointerId));
    }
    this.svg.addEventListener("click", (event) => {
      if (this.wasDragged) return;
      const box = event.target.closest("[data-variable]");
      this.session.select(box ? Number(box.dataset.variable) : this.keep());
    });
    this.svg.addEventListener("keydown", (event) => this.key(event));
    this.svg.addEventListener("pointerover", (event) => this.hover(event));
    this.svg.addEventListener("pointerout", () => {
      this.tip.hidden = true;
    });
  }

  /** A neighbourhood is that of some variable: it stays chosen. */
  keep() {
    return this.isWhole ? null : this.session.selected;
  }

  // Drawing.

  get scene() {
    const { drawing, arcs } = this.data;
    if (this.isWhole) {
      const boxes = drawing.x.map((x, v) => ({
        v,
        x,
        y: drawing.y[v],
        width: drawing.widths[v],
      }));
      const drawn = arcs.map((arc) => ({ arc, curve: arc.curve, head: arc.head }));
      return { width: drawing.width, height: drawing.height, boxes, arcs: drawn };
    }
    const members = within(this.session, this.session.selected, this.steps);
    const limit = drawing.wholeUpTo;
    let steps = this.steps;
    let shown = members;
    while (shown.length > limit && steps > 1) {
      steps -= 1;
      shown = within(this.session, this.session.selected, steps);
    }
    this.steps = steps;
    const name = this.session.names[this.session.selected];
    const far = steps === 1 ? "1 step" : `${steps} steps`;
    this.told.textContent =
      `${count(shown.length)} of ${count(this.data.names.length)} variables: ` +
      `${far} around ${name}`;
    return pick(drawing, arcs, shown);
  }

  draw() {
    const scene = this.scene;
    this.drawn = scene;
    this.boxes.clear();
    this.curves = scene.arcs.map(({ arc, curve, head }) => {
      const kind = arc.either ? "bm-either" : "bm-fixed";
      const line = shape("path", { class: `bm-arc ${kind}`, d: curve });
      const sure = arc.note?.either;
      if (sure !== undefined)
        line.style.strokeWidth = `${(0.8 + 2.6 * sure).toFixed(2)}px`;
      const made = shape(
        "g",
        { class: "bm-arcs" },
        line,
        shape("path", { class: `bm-head ${kind}`, d: head }),
        shape("path", { class: "bm-hit", d: curve }),
      );
      made.arc = arc;
      return { arc, made };
    });
    const boxes = scene.boxes.map((box) => this.box(box));
    this.root.replaceChildren(...this.curves.map(({ made }) => made), ...boxes);
    this.fit();
    this.paint();
    if (!this.isWhole) this.showOnMap();
  }

  box({ v, x, y, width }) {
    const { drawing } = this.data;
    const note = this.session.notes[v];
    const n = note ? note.mended.reduce((a, b) => a + b, 0) : 0;
    const name = shape("text", { x, y: y + 24 }, drawing.labels[v]);
    const below = shape("text", { class: "bm-small", x, y: y + 32 });
    const made = shape(
      "g",
      {
        class: `bm-variable${n ? " bm-mended" : ""}${note?.alarm ? " bm-alarm" : ""}`,
        role: "button",
        tabindex: "-1",
        "data-variable": v,
      },
      shape("rect", { x: x - width / 2, y, width, height: drawing.boxHeight, rx: 8 }),
      name,
      " ",
      below,
    );
    this.boxes.set(v, { made, name, below, n, x, y });
    return made;
  }

  update(kind) {
    if (kind === "select" && !this.isWhole) this.draw();
    else this.paint();
  }

  /** Show what is chosen and known. */
  paint() {
    const { session } = this;
    const chosen = session.selected;
    const near = new Set(chosen === null ? [] : session.blanket(chosen));
    for (const [v, { made, name, below, n, y }] of this.boxes) {
      const state = session.evidence.get(v);
      const known = state !== undefined;
      made.classList.toggle("bm-chosen", v === chosen);
      made.classList.toggle("bm-near", near.has(v));
      made.classList.toggle("bm-far", chosen !== null && v !== chosen && !near.has(v));
      made.classList.toggle("bm-known", known);
      const label = known ? session.states[v][state] : "";
      const told = known ? `= ${label}` : n ? `${count(n)} mended` : "";
      below.textContent = told.length > 16 ? `${told.slice(0, 15)}…` : told;
      name.setAttribute("y", told ? y + 18 : y + 24);
      made.setAttribute("aria-label", `${session.names[v]} ${told}`.trim());
      made.setAttribute("aria-pressed", String(v === chosen));
    }
    const focus = this.boxes.has(chosen) ? chosen : this.boxes.keys().next().value;
    for (const [v, { made }] of this.boxes) {
      made.setAttribute("tabindex", v === focus ? "0" : "-1");
    }
    for (const { arc, made } of this.curves) {
      const isOwn = arc.parent === chosen || arc.child === chosen;
      made.classList.toggle("bm-own", isOwn);
      made.classList.toggle("bm-far", chosen !== null && !isOwn);
    }
    this.fill();
  }

  // The panel.

  fill() {
    const { session } = this;
    const v = session.selected;
    if (v === null) {
      this.panel.replaceChildren(...this.hints());
      return;
    }
    // Redrawn under the hands of whoever clicks in it: the focus stays where it is.
    const held = this.panel.contains(document.activeElement)
      ? document.activeElement.dataset.state
      : undefined;
    const note = session.notes[v];
    const title = element("h3", {}, session.names[v]);
    const close = element(
      "button",
      {
        type: "button",
        class: "bm-close",
        "aria-label": "Close",
        onclick: () => session.select(null),
      },
      "×",
    );
    const parts = [
      element("div", { class: "bm-top" }, title, this.isWhole ? close : null),
    ];
    if (note?.alarm) {
      const told = "Its mended cells resemble no observed ones.";
      parts.push(element("p", { class: "bm-alarm-text" }, told));
    }
    if (session.refusal) parts.push(this.refused(session.refusal));
    else parts.push(this.evidenceLine(), stateBars(session, v, { most: 40 }));
    const add = (heading, made) => {
      if (made) parts.push(element("h4", {}, heading), made);
    };
    add("Observed and mended", shareTable(session, v));
    add("Parents", this.links(session.parents[v], v, true));
    add("Children", this.links(session.children[v], v, false));
    add("Probabilities", heatMap(session, v));
    const more = this.options.details?.(v);
    if (more) parts.push(more);
    this.panel.replaceChildren(...parts);
    if (held !== undefined) {
      this.panel.querySelector(`.bm-state[data-state="${held}"]`)?.focus();
    }
  }

  evidenceLine() {
    const { session } = this;
    const n = session.evidence.size;
    if (!n) return element("p", { class: "bm-soft" }, "Click a state to set it.");
    const told = session.answers.isPossible
      ? `Given ${n === 1 ? "1 state" : `${count(n)} states`}.`
      : "What is set cannot occur together.";
    return element(
      "p",
      { class: session.answers.isPossible ? "bm-soft" : "bm-alarm-text" },
      told,
      " ",
      element(
        "button",
        { type: "button", class: "bm-link", onclick: () => session.replace(new Map()) },
        "Clear",
      ),
    );
  }

  refused(refusal) {
    const { command } = this.options;
    return element(
      "p",
      { class: "bm-soft" },
      refusal.message,
      command ? " Ask the library: " : "",
      command ? element("code", {}, command) : "",
    );
  }

  links(members, v, areParents) {
    if (!members.length) return null;
    const items = members.map((u) => {
      const arc = this.session.arcs.find((a) =>
        areParents ? a.parent === u && a.child === v : a.parent === v && a.child === u,
      );
      const link = element(
        "button",
        { type: "button", class: "bm-link", onclick: () => this.session.select(u) },
        this.session.names[u],
      );
      const told = arcFacts(arc);
      return element("li", {}, link, told ? ` ${told}` : "");
    });
    return element("ul", { class: "bm-list" }, ...items);
  }

  hints() {
    const { arcs } = this.data;
    const told = [
      "Choose a variable to see its probabilities and set its state.",
      "Drag to move, Ctrl and wheel to zoom; arrow keys go from variable to variable.",
    ];
    if (arcs.some((arc) => arc.either)) {
      told.push(
        "A dashed arc points the other way in an equivalent network: the data cannot " +
          "tell its direction.",
      );
    }
    if (arcs.some((arc) => arc.note?.either !== undefined)) {
      told.push("The wider an arc, the more of the networks have it.");
    }
    return told.map((text) => element("p", { class: "bm-soft" }, text));
  }

  // Finding.

  get matches() {
    const text = this.search.value.trim().toLowerCase();
    if (!text) return [];
    const { names } = this.session;
    return [...names.keys()].filter((v) => names[v].toLowerCase().includes(text));
  }

  mark() {
    const found = new Set(this.matches);
    for (const [v, { made }] of this.boxes) {
      made.classList.toggle("bm-match", found.has(v));
    }
    const n = found.size;
    this.found.textContent = this.search.value.trim()
      ? `${count(n)} found${n ? "; Enter shows the next" : ""}`
      : "";
  }

  nextMatch() {
    const found = this.matches;
    if (!found.length) return;
    const at = found.indexOf(this.session.selected);
    this.session.select(found[(at + 1) % found.length]);
    this.mark();
    this.centre(this.session.selected);
  }

  // Moving.

  get size() {
    const box = this.svg.getBoundingClientRect();
    return [box.width || 600, box.height || 400];
  }

  fit() {
    this.isMoved = false;
    const { width, height } = this.drawn;
    const room = this.stage.clientWidth || 600;
    const least = room / width < LEGIBLE ? 480 : 260;
    const tall = Math.min(
      620,
      Math.max(least, height * Math.min(1, room / width) + 24),
    );
    this.svg.style.height = `${Math.round(tall)}px`;
    this.scale = Math.min(1.15, (room - 16) / width, (tall - 12) / height);
    this.left = (room - width * this.scale) / 2;
    this.top = (tall - height * this.scale) / 2;
    this.apply();
  }

  zoom(factor, around) {
    const [width, height] = this.size;
    const [x, y] = around ?? [width / 2, height / 2];
    const least = Math.min(0.05, this.scale);
    const scale = Math.min(CLOSEST, Math.max(least, this.scale * factor));
    const by = scale / this.scale;
    this.left = x - (x - this.left) * by;
    this.top = y - (y - this.top) * by;
    this.scale = scale;
    this.isMoved = true;
    this.apply();
  }

  centre(v) {
    const box = this.boxes.get(v);
    if (!box) return;
    const [width, height] = this.size;
    this.scale = Math.max(this.scale, 0.8);
    this.left = width / 2 - box.x * this.scale;
    this.top = height / 2 - (box.y + 20) * this.scale;
    this.isMoved = true;
    this.apply();
  }

  apply() {
    const at = `translate(${this.left.toFixed(2)} ${this.top.toFixed(2)})`;
    this.root.setAttribute("transform", `${at} scale(${this.scale.toFixed(4)})`);
  }

  place(event) {
    const box = this.svg.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  press(event) {
    if (event.button !== 0) return;
    this.pointers.set(event.pointerId, this.place(event));
    this.wasDragged = false;
  }

  move(event) {
    const before = this.pointers.get(event.pointerId);
    if (!before) return;
    const now = this.place(event);
    const others = [...this.pointers].filter(([id]) => id !== event.pointerId);
    const [dx, dy] = [now[0] - before[0], now[1] - before[1]];
    if (others.length) {
      const [, other] = others[0];
      const apart = (a) => Math.hypot(a[0] - other[0], a[1] - other[1]);
      const factor = apart(now) / Math.max(apart(before), 1);
      this.zoom(factor, [(now[0] + other[0]) / 2, (now[1] + other[1]) / 2]);
    } else {
      // A hand is never quite still.
      if (!this.wasDragged && Math.hypot(dx, dy) < 4) return;
      this.left += dx;
      this.top += dy;
      this.isMoved = true;
      this.apply();
    }
    this.wasDragged = true;
    this.pointers.set(event.pointerId, now);
  }

  key(event) {
    const box = event.target.closest("[data-variable]");
    if (!box) return;
    const v = Number(box.dataset.variable);
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.session.select(v === this.session.selected ? this.keep() : v);
      this.boxes.get(v)?.made.focus();
      return;
    }
    const direction = DIRECTIONS[event.key];
    if (!direction) return;
    event.preventDefault();
    const next = this.neighbourIn(v, direction);
    if (next !== null) this.boxes.get(next).made.focus();
  }

  /** The nearest box in a direction; what lies aside counts as twice as far. */
  neighbourIn(v, [dx, dy]) {
    const from = this.boxes.get(v);
    let best = null;
    let least = Infinity;
    for (const [u, { x, y }] of this.boxes) {
      const ahead = (x - from.x) * dx + (y - from.y) * dy;
      const aside = Math.abs((x - from.x) * dy + (y - from.y) * dx);
      if (u === v || ahead <= 1) continue;
      const far = ahead + 2 * aside;
      if (far < least) {
        least = far;
        best = u;
      }
    }
    return best;
  }

  hover(event) {
    const made = event.target.closest(".bm-arcs");
    const box = event.target.closest("[data-variable]");
    let told = "";
    if (made) {
      const { parent, child } = made.arc;
      const { names } = this.session;
      const facts = arcFacts(made.arc);
      told = `${names[parent]} → ${names[child]}${facts ? `: ${facts}` : ""}`;
      if (made.arc.either) told += "; its direction is not told by the data";
    } else if (box) {
      const v = Number(box.dataset.variable);
      const { session } = this;
      const shares =
        session.compiled && !session.refusal && session.answers.marginal(v);
      told = session.names[v];
      if (shares && shares.length <= 6) {
        const all = session.states[v].map((s, k) => `${s} ${percent(shares[k])}`);
        told += `: ${all.join(", ")}`;
      }
    }
    this.tip.hidden = !told;
    if (!told) return;
    this.tip.textContent = told;
    const [x, y] = this.place(event);
    const room = this.stage.clientWidth;
    this.tip.style.left = `${Math.max(4, Math.min(x + 12, room - this.tip.offsetWidth - 4))}px`;
    this.tip.style.top = `${y + 16}px`;
  }

  // The map of all, where a neighbourhood is shown.

  overview() {
    const { drawing } = this.data;
    const scale = MAP_WIDTH / drawing.width;
    const layers = Math.max(...drawing.layer) + 1;
    const step = Math.max(3, Math.min(10, 130 / layers));
    this.onMap = drawing.x.map((x, v) => [x * scale, (drawing.layer[v] + 0.5) * step]);
    const height = layers * step;
    const dot = ([x, y]) =>
      `M${(x - 0.6).toFixed(1)},${(y - 0.6).toFixed(1)}h1.2v1.2h-1.2z`;
    this.spots = shape("path", { class: "bm-spots" });
    const map = shape(
      "svg",
      {
        class: "bm-map",
        viewBox: `0 0 ${MAP_WIDTH} ${height}`,
        width: MAP_WIDTH,
        height,
        role: "img",
        "aria-label": "All variables; those drawn are marked",
        onclick: (event) => {
          const box = map.getBoundingClientRect();
          const x = ((event.clientX - box.left) / box.width) * MAP_WIDTH;
          const y = ((event.clientY - box.top) / box.height) * height;
          this.session.select(this.nearestOnMap(x, y));
        },
      },
      shape("path", { class: "bm-dots", d: this.onMap.map(dot).join("") }),
      this.spots,
    );
    return map;
  }

  nearestOnMap(x, y) {
    const far = ([a, b]) => Math.hypot(a - x, b - y);
    return this.onMap.reduce(
      (best, at, v) => (far(at) < far(this.onMap[best]) ? v : best),
      0,
    );
  }

  showOnMap() {
    const spot = (v) => {
      const [x, y] = this.onMap[v];
      const r = v === this.session.selected ? 3 : 1.5;
      return `M${(x - r).toFixed(1)},${(y - r).toFixed(1)}h${2 * r}v${2 * r}h${-2 * r}z`;
    };
    this.spots.setAttribute("d", [...this.boxes.keys()].map(spot).join(""));
  }
}

const DIRECTIONS = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

/** Say what is known of an arc. */
export function arcFacts(arc) {
  const { gain, probability, either } = arc.note ?? {};
  const told = [];
  if (gain !== undefined) told.push(`gain ${gain.toFixed(1)} nats`);
  if (either !== undefined) told.push(`${percent(either)} of the networks`);
  if (probability !== undefined) told.push(`${percent(probability)} this way`);
  return told.join(", ");
}

function mostJoined(session) {
  const degree = (v) => session.parents[v].length + session.children[v].length;
  return session.names.reduce((best, _, v) => (degree(v) > degree(best) ? v : best), 0);
}
