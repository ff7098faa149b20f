// Mended cells: a table that draws only what is looked at, and what stands behind a cell.

import { count, element, percent, sized } from "./dom.js";
import { unpack } from "./packed.js";
import { explain } from "./why.js";

const ROW = 32; // pixels
const SPARE = 12; // rows drawn above and below
const MOST_WHY = 12;
const TEXTS = new Set(["state", "runner"]); // sorted as such

/** The cells as arrays, and how they are told. */
export class CellStore {
  /**
   * @param {object} data What `bayesmend.view.pack_cells` returns.
   * @param {Session} session With the names and the states of the variables.
   */
  constructor(data, session) {
    this.session = session;
    this.rows = unpack(data.rows, "i4");
    this.variables = unpack(data.variables, "u2");
    this.codes = unpack(data.codes, "u1");
    this.runners = unpack(data.runners, "u1");
    this.sure = unpack(data.sure, "f8");
    this.supported = data.supported ? unpack(data.supported, "u1") : null;
    this.measure = data.measure;
    this.labels = data.labels ?? null; // of rows, by what follows
    this.isSafe = data.safe ?? false;
    this.records = new Map();
    if (data.records) {
      const codes = unpack(data.records.codes, "u1");
      const n = session.names.length;
      unpack(data.records.rows, "i4").forEach((row, i) => {
        this.records.set(row, codes.subarray(i * n, (i + 1) * n));
      });
    }
    this.inRow = new Map();
    this.rows.forEach((row, i) => {
      if (!this.inRow.has(row)) this.inRow.set(row, []);
      this.inRow.get(row).push(i);
    });
  }

  get length() {
    return this.rows.length;
  }

  name(i) {
    return this.session.names[this.variables[i]];
  }

  state(i) {
    return this.session.states[this.variables[i]][this.codes[i]];
  }

  /** The runner-up; null where there is no other state. */
  runnerUp(i) {
    if (this.runners[i] === this.codes[i]) return null;
    return this.session.states[this.variables[i]][this.runners[i]];
  }

  rowLabel(i) {
    return this.labels ? this.labels[this.rows[i]] : null;
  }

  isSupported(i) {
    return this.supported ? this.supported[i] === 1 : null;
  }

  told(i) {
    const value = this.sure[i];
    if (this.measure === "probability") return percent(value);
    if (!Number.isFinite(value)) return "none other";
    return value.toFixed(3);
  }

  /** The observed cells of the row of a cell, or null where they are not in the page. */
  evidence(i) {
    const record = this.records.get(this.rows[i]);
    if (!record) return null;
    const mended = new Set(this.inRow.get(this.rows[i]).map((j) => this.variables[j]));
    const evidence = new Map();
    record.forEach((code, v) => {
      if (!mended.has(v) && code !== 255) evidence.set(v, code);
    });
    return evidence;
  }

  /** Positions of the cells that are asked for, in the order that is asked for. */
  pick({
    variable = null,
    row = null,
    text = "",
    most = null,
    support = null,
    by,
    down,
  }) {
    const wanted = text.trim().toLowerCase();
    const matches = this.session.states.map((labels) =>
      labels.map((label) => label.toLowerCase().includes(wanted)),
    );
    const found = [];
    for (let i = 0; i < this.length; i++) {
      const v = this.variables[i];
      if (variable !== null && v !== variable) continue;
      if (row !== null && this.rows[i] !== row) continue;
      if (wanted && !matches[v][this.codes[i]]) continue;
      if (most !== null && this.sure[i] > most) continue;
      if (support !== null && this.isSupported(i) !== support) continue;
      found.push(i);
    }
    const sign = down ? -1 : 1;
    const value = this.sortKey(by);
    const compare = TEXTS.has(by)
      ? (a, b) => sign * value(a).localeCompare(value(b), "en", { numeric: true })
      : (a, b) => sign * (value(a) - value(b));
    return found.sort((a, b) => compare(a, b) || a - b);
  }

  sortKey(by) {
    const keys = {
      row: (i) => this.rows[i],
      variable: (i) => this.variables[i],
      state: (i) => this.state(i) ?? "",
      // Infinity less infinity is no order.
      sure: (i) => Math.min(this.sure[i], Number.MAX_VALUE),
      runner: (i) => this.runnerUp(i) ?? "",
      support: (i) => (this.supported ? this.supported[i] : 1),
    };
    return keys[by];
  }

  /** The cells as CSV text, with the columns of ``cells.csv``. */
  csv(positions) {
    const columns = ["row", "variable", "state", this.measure, "runner_up"];
    if (this.labels) columns.push("row_label");
    if (this.supported) columns.push("supported");
    const lines = [columns.join(",")];
    for (const i of positions) {
      const cells = [
        String(this.rows[i]),
        this.field(this.name(i)),
        this.field(this.state(i)),
        Number.isFinite(this.sure[i]) ? String(this.sure[i]) : "inf",
        this.field(this.runnerUp(i) ?? ""),
      ];
      if (this.labels) cells.push(this.field(this.rowLabel(i) ?? ""));
      if (this.supported) cells.push(this.isSupported(i) ? "True" : "False");
      lines.push(cells.join(","));
    }
    return `${lines.join("\n")}\n`;
  }

  field(text) {
    const isNumber = /^[+-](\d+[.,]?\d*|[.,]\d+)([eE][+-]?\d+)?$/.test(text);
    const isFormula = /^[=+\-@\t\r]/.test(text) && !isNumber;
    const safe = this.isSafe && isFormula ? `'${text}` : text;
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  }
}

/**
 * Show mended cells.
 *
 * @param {Element} host Where; what it contains is replaced.
 * @param {CellStore} store The cells.
 * @param {{refusal?: string, engine?: object, indicators?: object, note?: string}} options
 *   How questions about a cell are answered: by an engine, with the positions of
 *   variables that say which cells are missing; or why they are not. A note on what the
 *   answers mean.
 * @returns {{show, destroy}} `show(v)` lists the cells of a variable.
 */
export function mountCells(host, store, options = {}) {
  const view = new CellsView(host, store, options);
  return {
    show: (v) => view.show(v),
    destroy: () => host.replaceChildren(),
  };
}

class CellsView {
  constructor(host, store, options) {
    this.store = store;
    this.session = store.session;
    this.options = options;
    this.by = "sure";
    this.down = false;
    this.chosen = null;
    this.build(host);
    this.refresh();
  }

  build(host) {
    const { session, store } = this;
    const again = () => this.refresh();
    const used = [...new Set(store.variables)].sort((a, b) => a - b);
    this.variable = element(
      "select",
      { "aria-label": "Variable", onchange: again },
      element("option", { value: "" }, "All variables"),
      ...used.map((v) => element("option", { value: v }, session.names[v])),
    );
    this.row = element("input", {
      type: "number",
      min: "0",
      class: "bm-short",
      placeholder: "Row",
      "aria-label": "Row",
      oninput: again,
    });
    this.text = element("input", {
      type: "search",
      class: "bm-short",
      placeholder: "Mended as",
      "aria-label": "Mended as",
      oninput: again,
    });
    const isShare = store.measure === "probability";
    this.most = element("input", {
      type: "number",
      min: "0",
      max: isShare ? "100" : null,
      step: "any",
      class: "bm-short",
      placeholder: isShare ? "At most %" : "Margin up to",
      "aria-label": isShare
        ? "Probability of at most, in percent"
        : "Margin of at most",
      oninput: again,
    });
    this.support = element(
      "select",
      { "aria-label": "Examples", onchange: again },
      element("option", { value: "" }, "With or without example"),
      element("option", { value: "no" }, "Without an example"),
      element("option", { value: "yes" }, "With an example"),
    );
    const download = element(
      "button",
      { type: "button", onclick: () => this.download() },
      "Download as CSV",
    );
    this.status = element("span", { class: "bm-soft", role: "status" });
    const tools = element(
      "div",
      { class: "bm-tools" },
      this.variable,
      this.row,
      this.text,
      this.most,
      store.supported ? this.support : null,
      download,
      this.status,
    );
    const headings = [
      ["row", "row"],
      ["variable", "variable"],
      ["state", "mended as"],
      ["sure", store.measure],
      ["runner", "runner-up"],
      ...(store.supported ? [["support", "example"]] : []),
    ];
    this.headings = headings.map(([key, name]) => {
      const sort = () => {
        this.down = this.by === key ? !this.down : false;
        this.by = key;
        this.refresh();
      };
      const button = element("button", { type: "button", onclick: sort }, name);
      return element("div", { role: "columnheader", class: `bm-c-${key}` }, button);
    });
    this.head = element(
      "div",
      { role: "row", class: "bm-crow bm-chead" },
      ...this.headings,
    );
    this.keys = headings.map(([key]) => key);
    this.body = element("div", { role: "rowgroup", class: "bm-cbody" });
    this.table = element(
      "div",
      {
        role: "grid",
        class: "bm-cells",
        tabindex: "0",
        "aria-label": "Mended cells",
        onscroll: () => this.drawn(),
        onkeydown: (event) => this.key(event),
      },
      element("div", { role: "rowgroup", class: "bm-cfix" }, this.head),
      this.body,
    );
    this.detail = element("section", {
      class: "bm-why",
      "aria-label": "Why",
      hidden: true,
    });
    host.replaceChildren(
      element("div", { class: "bm" }, tools, this.table, this.detail),
    );
    new ResizeObserver(() => this.drawn()).observe(this.table);
  }

  show(v) {
    this.variable.value = String(v);
    this.refresh();
  }

  get filter() {
    const number = (input) => (input.value === "" ? null : Number(input.value));
    const most = number(this.most);
    const isShare = this.store.measure === "probability";
    return {
      variable: this.variable.value === "" ? null : Number(this.variable.value),
      row: number(this.row),
      text: this.text.value,
      most: most === null ? null : isShare ? most / 100 : most,
      support: this.support.value === "" ? null : this.support.value === "yes",
      by: this.by,
      down: this.down,
    };
  }

  refresh() {
    this.found = this.store.pick(this.filter);
    const n = this.found.length;
    const all = this.store.length;
    this.status.textContent =
      n === all ? `${count(all)} cells` : `${count(n)} of ${count(all)} cells`;
    this.headings.forEach((heading, k) => {
      const isBy = this.keys[k] === this.by;
      const order = this.down ? "descending" : "ascending";
      heading.setAttribute("aria-sort", isBy ? order : "none");
    });
    this.body.style.height = `${n * ROW}px`;
    this.table.setAttribute("aria-rowcount", String(n + 1));
    this.table.scrollTop = 0;
    this.drawn();
  }

  /** Draw the rows that can be seen. */
  drawn() {
    const first = Math.max(0, Math.floor(this.table.scrollTop / ROW) - SPARE);
    const seen = Math.ceil((this.table.clientHeight || 400) / ROW);
    const last = Math.min(this.found.length, first + seen + 2 * SPARE);
    const rows = [];
    for (let at = first; at < last; at++) rows.push(this.line(at));
    this.body.replaceChildren(...rows);
  }

  line(at) {
    const { store } = this;
    const i = this.found[at];
    const cell = (key, ...parts) =>
      element("div", { role: "gridcell", class: `bm-c-${key}` }, ...parts);
    const label = store.rowLabel(i);
    const row =
      label === null ? count(store.rows[i]) : `${count(store.rows[i])} (${label})`;
    const supported = store.isSupported(i);
    const sure = cell("sure", store.told(i));
    const share = store.measure === "probability" ? store.sure[i] : 0;
    const made = element(
      "div",
      {
        role: "row",
        class: `bm-crow${i === this.chosen ? " bm-chosen-row" : ""}`,
        "aria-rowindex": at + 2,
        "aria-selected": String(i === this.chosen),
        "data-at": at,
        onclick: () => this.choose(at),
      },
      cell("row", row),
      cell("variable", store.name(i)),
      cell("state", store.state(i)),
      sized(sure, share),
      cell("runner", store.runnerUp(i) ?? ""),
      supported === null ? null : cell("support", supported ? "yes" : "none"),
    );
    if (supported === false) made.classList.add("bm-unsupported");
    made.style.transform = `translateY(${at * ROW}px)`;
    return made;
  }

  key(event) {
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 };
    const step = steps[event.key];
    if (event.target !== this.table || !step || !this.found.length) return;
    event.preventDefault();
    const before = this.chosen === null ? -1 : this.found.indexOf(this.chosen);
    const at = Math.min(this.found.length - 1, Math.max(0, before + step));
    this.choose(at);
    const top = at * ROW;
    const room = this.table.clientHeight - 2 * ROW;
    if (top < this.table.scrollTop) this.table.scrollTop = top;
    if (top > this.table.scrollTop + room) this.table.scrollTop = top - room;
  }

  choose(at) {
    this.chosen = this.found[at];
    this.drawn();
    this.explain(this.chosen);
  }

  download() {
    const blob = new Blob([this.store.csv(this.found)], { type: "text/csv" });
    const url = URL.createObjectURL(blob);
    element("a", { href: url, download: "cells.csv" }).click();
    URL.revokeObjectURL(url);
  }

  // What stands behind a cell.

  explain(i) {
    const { store } = this;
    const title = `Row ${count(store.rows[i])}: ${store.name(i)} = ${store.state(i)}`;
    const parts = [element("h3", {}, title)];
    if (store.isSupported(i) === false) {
      const told =
        "No observed row shows this state together with those of its parents or " +
        "children: it is carried over from other rows.";
      parts.push(element("p", { class: "bm-alarm-text" }, told));
    }
    const evidence = store.evidence(i);
    if (evidence === null) {
      const told = "This row is not in the page, which holds the least certain ones.";
      parts.push(element("p", { class: "bm-soft" }, told));
    } else if (this.options.refusal) {
      parts.push(element("p", { class: "bm-soft" }, this.options.refusal));
      parts.push(this.record(i, null));
    } else {
      const full = this.withIndicators(evidence);
      parts.push(...this.why(i, full), this.record(i, full));
    }
    this.detail.replaceChildren(...parts);
    this.detail.hidden = false;
  }

  /** Add which cells of the row are missing, where the network knows why. */
  withIndicators(evidence) {
    const full = new Map(evidence);
    const { indicators } = this.options;
    if (indicators) {
      indicators.forEach((of, k) => {
        const isMissing = !evidence.has(of);
        full.set(this.session.names.length + k, isMissing ? 1 : 0);
      });
    }
    return full;
  }

  why(i, evidence) {
    const { store, session, options } = this;
    const v = store.variables[i];
    const state = store.codes[i];
    const found = explain(options.engine, evidence, v, state, {
      fixed: (u) => u >= session.names.length,
    });
    if (found === null) {
      return [
        element(
          "p",
          { class: "bm-alarm-text" },
          "The network holds this row for impossible.",
        ),
      ];
    }
    const share = found.shares[state];
    const most = found.shares.indexOf(Math.max(...found.shares));
    const label = session.states[v][state];
    const told = [
      element(
        "p",
        {},
        `The network gives ${label} ${percent(share)}, by what is observed in the row.`,
        most === state
          ? ""
          : ` By itself it would take ${session.states[v][most]} ` +
              `(${percent(found.shares[most])}); ${options.note ?? ""}`,
      ),
    ];
    told.push(
      element("h4", {}, `What speaks for and against ${label}`),
      this.weights(found, evidence),
    );
    const flip =
      most === state
        ? "The smallest change that would flip it"
        : `The smallest change after which the network would not take ${session.states[v][most]}`;
    told.push(element("h4", {}, flip));
    told.push(this.flips(found, v, most));
    return told;
  }

  cellName(v, state) {
    const { session } = this;
    const n = session.names.length;
    if (v >= n) {
      const of = session.names[this.options.indicators[v - n]];
      return `${of} is ${state ? "missing" : "observed"}`;
    }
    return `${session.names[v]} = ${session.states[v][state]}`;
  }

  weights({ speaks }, evidence) {
    const telling = speaks.filter(({ weight }) => Math.abs(weight) >= 0.005);
    const shown = telling.slice(0, MOST_WHY);
    if (!shown.length) {
      const told =
        "No observed cell of the row says anything: it rests on the network alone.";
      return element("p", { class: "bm-soft" }, told);
    }
    const finite = shown.map(({ weight }) => Math.abs(weight)).filter(Number.isFinite);
    const most = Math.max(1, ...finite);
    const rows = shown.map(({ v, weight }) => {
      const share = Math.min(1, Math.abs(weight) / most);
      const kind = weight > 0 ? "bm-for" : "bm-against";
      const number = Number.isFinite(weight) ? weight.toFixed(2) : "decides";
      const sign = weight > 0 && Number.isFinite(weight) ? "+" : "";
      return element(
        "tr",
        {},
        element("th", { scope: "row" }, this.cellName(v, evidence.get(v))),
        sized(element("td", { class: `bm-weight ${kind}` }, `${sign}${number}`), share),
      );
    });
    const rest = speaks.length - shown.length;
    const table = element(
      "table",
      { class: "bm-table", "aria-label": "Change of log-odds" },
      element(
        "thead",
        {},
        element(
          "tr",
          {},
          element("th", { scope: "col" }, "observed cell"),
          element("th", { scope: "col", class: "bm-n" }, "log-odds without it fall by"),
        ),
      ),
      element("tbody", {}, ...rows),
    );
    const told = rest
      ? `${count(rest)} further observed cells say less, or nothing.`
      : "";
    return element("div", {}, table, element("p", { class: "bm-soft" }, told));
  }

  flips(found, v, held) {
    const { session } = this;
    const line = ({ cells, best, shares }) =>
      element(
        "li",
        {},
        `${cells.map((c) => this.cellName(c.v, c.state)).join(" and ")}: then ` +
          `${session.states[v][best]} (${percent(shares[best])}), ` +
          `${session.states[v][held]} ${percent(shares[held])}`,
      );
    if (found.flips.length) {
      return element("ul", { class: "bm-list" }, ...found.flips.map(line));
    }
    const { looked, of, flips } = found.pairs;
    const bound =
      looked < of
        ? `pairs that begin with the ${count(looked)} strongest of ${count(of)} single changes`
        : "all pairs";
    if (flips.length) {
      const told = `No single cell does. Two do (looked at: ${bound}):`;
      const list = element("ul", { class: "bm-list" }, ...flips.map(line));
      return element("div", {}, element("p", {}, told), list);
    }
    const told = `Neither a single cell nor two would (looked at: all single changes, ${bound}).`;
    return element("p", {}, told);
  }

  /** The whole row: observed cells, and mended ones with their alternatives. */
  record(i, evidence) {
    const { store, session, options } = this;
    const record = store.records.get(store.rows[i]);
    const mended = new Map(
      store.inRow.get(store.rows[i]).map((j) => [store.variables[j], j]),
    );
    const answers = evidence && options.engine.infer(evidence);
    const rows = [...record].map((code, v) => {
      const j = mended.get(v);
      const label = code === 255 ? "still missing" : session.states[v][code];
      const name = element("th", { scope: "row" }, session.names[v]);
      if (j === undefined) {
        return element("tr", {}, name, element("td", {}, label), element("td"));
      }
      const shares = answers?.marginal(v);
      const others = shares
        ? [...shares.keys()]
            .filter((k) => k !== code)
            .sort((a, b) => shares[b] - shares[a])
            .slice(0, 3)
            .map((k) => `${session.states[v][k]} ${percent(shares[k])}`)
            .join(", ")
        : (store.runnerUp(j) ?? "");
      const own = shares ? ` ${percent(shares[code])}` : "";
      return element(
        "tr",
        { class: j === i ? "bm-mended-row bm-this" : "bm-mended-row" },
        name,
        element("td", {}, `${label}${own}`),
        element("td", {}, `mended; else ${others || "nothing"}`),
      );
    });
    const label = store.rowLabel(i);
    const title = `Row ${count(store.rows[i])}${label === null ? "" : ` (${label})`}`;
    return element(
      "details",
      {},
      element("summary", {}, `${title}: the whole record`),
      element(
        "div",
        { class: "bm-wide", tabindex: "0", role: "group", "aria-label": title },
        element(
          "table",
          { class: "bm-table", "aria-label": title },
          element("tbody", {}, ...rows),
        ),
      ),
    );
  }
}
