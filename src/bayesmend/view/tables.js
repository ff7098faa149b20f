// Probabilities of a variable: bars that can be clicked, and the table as a heat map.

import { count, element, percent, sized } from "./dom.js";
import { unpack } from "./packed.js";

/** States of a variable; a click sets evidence or takes it back. */
export function stateBars(session, v, { most = 254 } = {}) {
  const known = session.evidence.get(v);
  const shares = session.refusal ? null : session.answers.marginal(v);
  const labels = session.states[v];
  const order = [...labels.keys()];
  if (shares && order.length > most) order.sort((a, b) => shares[b] - shares[a]);
  const bars = order.slice(0, most).map((k) => {
    const share = shares ? shares[k] : 0;
    const told = shares ? percent(share) : "";
    const button = element(
      "button",
      {
        type: "button",
        class: "bm-state",
        "aria-pressed": String(known === k),
        "aria-label": `${session.names[v]} = ${labels[k]} ${told}`.trim(),
        "data-state": k,
        onclick: () => session.toggle(v, k),
      },
      sized(element("span", { class: "bm-fill" }), share),
      element("span", { class: "bm-label" }, labels[k]),
      " ",
      element("span", { class: "bm-number" }, told),
    );
    return element("li", {}, button);
  });
  const rest = order.length - bars.length;
  if (rest > 0)
    bars.push(element("li", { class: "bm-soft" }, `and ${count(rest)} more`));
  return element("ul", { class: "bm-states" }, ...bars);
}

/** How often each state was observed and filled in, side by side. */
export function shareTable(session, v) {
  const note = session.notes[v];
  if (!note) return null;
  const total = (counts) => counts.reduce((a, b) => a + b, 0);
  const kinds = [
    ["observed", note.observed],
    ["mended", note.mended],
  ].filter(([, counts]) => total(counts));
  if (!kinds.length) return null;
  const cell = (counts, k) => {
    const share = counts[k] / total(counts);
    const made = element("td", { class: "bm-bar" }, percent(share));
    return sized(made, share);
  };
  const head = kinds.map(([name, counts]) =>
    element("th", { scope: "col" }, `${name} (${count(total(counts))})`),
  );
  const rows = session.states[v].map((label, k) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, label),
      ...kinds.map(([, counts]) => cell(counts, k)),
    ),
  );
  return element(
    "table",
    { class: "bm-table", "aria-label": `Cells of ${session.names[v]}` },
    element("thead", {}, element("tr", {}, element("td"), ...head)),
    element("tbody", {}, ...rows),
  );
}

/** The probabilities of a variable given its parents, and the rows behind them. */
export function heatMap(session, v, { most = 200 } = {}) {
  const parents = session.parents[v];
  const r = session.card[v];
  const cpt = session.cpts[v];
  const configs = parents.reduce((product, p) => product * session.card[p], 1);
  const packed = session.notes[v]?.rows;
  const rows = packed ? unpack(packed, "i4") : null;
  const head = [
    ...parents.map((p) => element("th", { scope: "col" }, session.names[p])),
    ...session.states[v].map((label) =>
      element("th", { scope: "col", class: "bm-n" }, label),
    ),
    ...(rows ? [element("th", { scope: "col", class: "bm-n" }, "observed rows")] : []),
  ];
  const body = [];
  for (let j = 0; j < Math.min(configs, most); j++) {
    const cells = [];
    let rest = j;
    for (const p of parents) {
      const label = session.states[p][rest % session.card[p]];
      cells.push(element("td", {}, label));
      rest = Math.floor(rest / session.card[p]);
    }
    for (let k = 0; k < r; k++) {
      const p = cpt[j * r + k];
      cells.push(sized(element("td", { class: "bm-heat" }, p.toFixed(3)), p));
    }
    if (rows) {
      const kind = rows[j] ? "bm-n" : "bm-n bm-none";
      cells.push(element("td", { class: kind }, count(rows[j])));
    }
    body.push(element("tr", {}, ...cells));
  }
  const name = session.names[v];
  const table = element(
    "table",
    { class: "bm-table", "aria-label": `Probabilities of ${name}` },
    element("thead", {}, element("tr", {}, ...head)),
    element("tbody", {}, ...body),
  );
  const left = configs - body.length;
  const wide = element(
    "div",
    {
      class: "bm-wide",
      tabindex: "0",
      role: "group",
      "aria-label": `Probabilities of ${name}, scrollable`,
    },
    table,
  );
  if (left <= 0) return wide;
  const told = `${count(left)} more rows are not shown.`;
  return element("div", {}, wide, element("p", { class: "bm-soft" }, told));
}
