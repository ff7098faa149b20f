// Questions: states are set by clicks, and all distributions follow.

import { count, element, fromLog } from "./dom.js";
import { stateBars } from "./tables.js";

const MOST_CARDS = 60;
const MOST_STATES = 12;

/**
 * Show the distributions of all variables, and what is set.
 *
 * @param {Element} host Where; what it contains is replaced.
 * @param {Session} session Shared with the drawing.
 * @param {{command?: (given: object) => string}} options The command that answers what
 *   the page cannot.
 */
export function mountAsk(host, session, options = {}) {
  const view = new AskView(host, session, options);
  return { destroy: () => view.destroy() };
}

class AskView {
  constructor(host, session, options) {
    this.host = host;
    this.session = session;
    this.options = options;
    if (session.refusal) {
      this.refuse();
      return;
    }
    this.prior = session.names.map((_, v) => session.engine && this.first(v));
    this.told = element("div", { class: "bm-given", role: "status" });
    this.search = element("input", {
      type: "search",
      class: "bm-search",
      placeholder: "Find a variable or a state",
      "aria-label": "Find a variable or a state",
      oninput: () => this.draw(),
    });
    this.cards = element("div", { class: "bm-cards" });
    this.rest = element("p", { class: "bm-soft" });
    const tools = element("div", { class: "bm-tools" }, this.search);
    host.replaceChildren(
      element("div", { class: "bm" }, this.told, tools, this.cards, this.rest),
    );
    this.leave = session.on((kind) => {
      if (kind === "evidence") this.draw();
    });
    this.draw();
  }

  destroy() {
    this.leave?.();
    this.host.replaceChildren();
  }

  refuse() {
    const { session, options } = this;
    const parts = [element("p", {}, session.refusal.message)];
    if (options.command) {
      parts.push(
        element("p", {}, "The library answers, by samples where it must:"),
        element("pre", { tabindex: "0" }, options.command({})),
      );
    }
    this.host.replaceChildren(element("div", { class: "bm" }, ...parts));
  }

  first(v) {
    const { session } = this;
    this.unasked ??= session.engine.infer(new Map());
    return this.unasked.marginal(v);
  }

  draw() {
    const held = this.cards.contains(document.activeElement)
      ? document.activeElement
      : null;
    const at = held?.closest("[data-card]")?.dataset.card;
    const state = held?.dataset.state;
    this.told.replaceChildren(...this.given());
    const order = this.order();
    const shown = order.slice(0, MOST_CARDS);
    this.cards.replaceChildren(...shown.map((v) => this.card(v)));
    const left = order.length - shown.length;
    this.rest.textContent = left
      ? `${count(left)} more variables, which moved less, are found by their names.`
      : "";
    if (at !== undefined && state !== undefined) {
      const card = this.cards.querySelector(`[data-card="${at}"]`);
      card?.querySelector(`[data-state="${state}"]`)?.focus();
    }
  }

  /** In their order; of many variables those first that are set or moved. */
  order() {
    const { session } = this;
    const text = this.search.value.trim().toLowerCase();
    const has = (label) => label.toLowerCase().includes(text);
    const found = [...session.names.keys()].filter(
      (v) => has(session.names[v]) || session.states[v].some(has),
    );
    if (found.length <= MOST_CARDS) return found;
    const moved = new Map(found.map((v) => [v, this.moved(v)]));
    return found.sort((a, b) => moved.get(b) - moved.get(a) || a - b);
  }

  moved(v) {
    const { session } = this;
    if (session.evidence.has(v)) return 2;
    const now = session.answers.marginal(v);
    if (!now) return 0;
    const apart = now.reduce((sum, p, k) => sum + Math.abs(p - this.prior[v][k]), 0);
    return Math.round(1e6 * apart) / 2e6;
  }

  card(v) {
    const { session } = this;
    const isKnown = session.evidence.has(v);
    return element(
      "section",
      {
        class: `bm-card${isKnown ? " bm-set" : ""}`,
        "data-card": v,
        "aria-label": session.names[v],
      },
      element("h3", {}, session.names[v]),
      stateBars(session, v, { most: MOST_STATES }),
    );
  }

  given() {
    const { session } = this;
    if (!session.evidence.size) {
      const told = "Nothing is set: these are the distributions without any evidence.";
      return [element("p", { class: "bm-soft" }, told)];
    }
    const chips = [...session.evidence].map(([v, k]) =>
      element(
        "li",
        {},
        element(
          "button",
          {
            type: "button",
            class: "bm-chip",
            "aria-label": `Take back ${session.names[v]} = ${session.states[v][k]}`,
            onclick: () => session.set(v, null),
          },
          `${session.names[v]} = ${session.states[v][k]} ×`,
        ),
      ),
    );
    const clear = element(
      "button",
      { type: "button", class: "bm-link", onclick: () => session.replace(new Map()) },
      "Clear all",
    );
    const list = element(
      "ul",
      { class: "bm-chips" },
      ...chips,
      element("li", {}, clear),
    );
    return [list, ...(session.answers.isPossible ? this.likely() : this.impossible())];
  }

  likely() {
    const { session } = this;
    const { logEvidence } = session.answers;
    const best = session.engine.mostProbable(session.evidence);
    const parts = session.names
      .map((name, v) => [name, session.states[v][best.states[v]], v])
      .filter(([, , v]) => !session.evidence.has(v));
    const together = fromLog(best.logProbability - logEvidence);
    const items = parts.map(([name, state]) => element("li", {}, `${name} = ${state}`));
    return [
      element("p", {}, `Probability of what is set: ${fromLog(logEvidence)}.`),
      items.length
        ? element(
            "details",
            {},
            element(
              "summary",
              {},
              `Most probable states of all others together: ${together}`,
            ),
            element("ul", { class: "bm-columns" }, ...items),
          )
        : null,
    ].filter((part) => part !== null);
  }

  impossible() {
    const { session } = this;
    const cause = session.engine
      .conflict(session.evidence)
      .map(
        (v) => `${session.names[v]} = ${session.states[v][session.evidence.get(v)]}`,
      );
    const told =
      cause.length === 1
        ? `The network holds ${cause[0]} for impossible.`
        : `The network holds these for impossible together: ${cause.join(", ")}.`;
    return [element("p", { class: "bm-alarm-text" }, told, " Take one of them back.")];
  }
}
