// A network, what is known of its variables, and what follows for the others.

import { compile, MOST_ENTRIES, TooWide } from "./inference.js";
import { unpack } from "./packed.js";

const FIRST_ROWS = 200; // of a table that is too large to compute with

export class Session {
  /** @param {object} data What `bayesmend.view.describe` returns. */
  constructor(data) {
    this.names = data.names;
    this.states = data.states;
    this.card = data.states.map((labels) => labels.length);
    this.parents = data.parents;
    this.arcs = data.arcs;
    this.notes = data.notes ?? [];
    const all = unpack(data.cpts, "f8");
    let at = 0;
    this.cpts = data.parents.map((members, v) => {
      const whole = members.reduce(
        (product, p) => product * this.card[p],
        this.card[v],
      );
      const size = whole <= MOST_ENTRIES ? whole : FIRST_ROWS * this.card[v];
      at += size;
      return all.subarray(at - size, at);
    });
    this.children = data.names.map(() => []);
    this.parents.forEach((members, v) => {
      for (const p of members) this.children[p].push(v);
    });
    this.position = new Map(data.names.map((name, v) => [name, v]));
    this.evidence = new Map();
    this.selected = null;
    this.listeners = new Set();
    this.compiled = null;
    this.known = null;
  }

  /** The engine, compiled when first needed; throws `TooWide`. */
  get engine() {
    this.compiled ??= this.#compile();
    if (this.compiled instanceof TooWide) throw this.compiled;
    return this.compiled;
  }

  /** Why the page cannot answer, or null. */
  get refusal() {
    try {
      return this.engine && null;
    } catch (error) {
      if (error instanceof TooWide) return error;
      throw error;
    }
  }

  #compile() {
    try {
      return compile({ card: this.card, parents: this.parents, cpts: this.cpts });
    } catch (error) {
      if (error instanceof TooWide) return error;
      throw error;
    }
  }

  /** What follows from the evidence. */
  get answers() {
    this.known ??= this.engine.infer(this.evidence);
    return this.known;
  }

  /** Parents, children, and other parents of the children. */
  blanket(v) {
    const found = new Set([...this.parents[v], ...this.children[v]]);
    for (const c of this.children[v]) for (const p of this.parents[c]) found.add(p);
    found.delete(v);
    return [...found].sort((a, b) => a - b);
  }

  /** Let a variable have a state; null: nothing is known of it. */
  set(v, state) {
    const evidence = new Map(this.evidence);
    if (state === null) evidence.delete(v);
    else evidence.set(v, state);
    this.replace(evidence);
  }

  /** Let a variable have a state; take that back where it has it already. */
  toggle(v, state) {
    this.set(v, this.evidence.get(v) === state ? null : state);
  }

  replace(evidence) {
    this.evidence = evidence;
    this.known = null;
    this.#tell("evidence");
  }

  select(v) {
    if (v === this.selected) return;
    this.selected = v;
    this.#tell("select");
  }

  /** Be told of changes; returns how to be told no longer. */
  on(listener) {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  #tell(kind) {
    for (const listener of [...this.listeners]) listener(kind);
  }

  /** The evidence with names and labels. */
  get given() {
    const entries = [...this.evidence];
    return Object.fromEntries(
      entries.map(([v, k]) => [this.names[v], this.states[v][k]]),
    );
  }

  /** Read evidence with names and labels. */
  read(given) {
    const evidence = new Map();
    for (const [name, label] of Object.entries(given)) {
      const v = this.position.get(name);
      if (v === undefined) throw new Error(`There is no variable "${name}".`);
      const k = this.states[v].indexOf(String(label));
      if (k < 0) throw new Error(`"${name}" has no state "${label}".`);
      evidence.set(v, k);
    }
    return evidence;
  }
}
