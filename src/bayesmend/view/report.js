// The page about a result: everything in it that answers.

import { mountAsk } from "./ask.js";
import { CellStore, mountCells } from "./cells.js";
import { element } from "./dom.js";
import { compile, TooWide } from "./inference.js";
import { mount } from "./network.js";
import { unpack } from "./packed.js";
import { Session } from "./session.js";
import { heatMap } from "./tables.js";

const NOTES = {
  ensemble: "the cell is filled by the mean of all members of the ensemble.",
  margin: "the cell was filled together with the structure and all other cells.",
  probability: "the cell is part of the most probable completion of the whole row.",
};

function startReport() {
  const data = JSON.parse(document.getElementById("bayesmend-data").textContent);
  const session = new Session(data.network);
  let cells = null;
  const details = (v) => {
    const n = session.notes[v]?.mended.reduce((a, b) => a + b, 0);
    if (!n || !cells) return null;
    const show = () => {
      cells.show(v);
      document.getElementById("cells").scrollIntoView();
    };
    const button = element(
      "button",
      { type: "button", class: "bm-link", onclick: show },
      "Show its mended cells",
    );
    return element("p", {}, button);
  };
  mount(document.getElementById("network-view"), data.network, {
    session,
    command: commandFor(session.given),
    details,
  });
  mountAsk(document.getElementById("ask-view"), session, { command: commandFor });
  if (data.cells) cells = startCells(data, session);
  fillTables(session);
  document.documentElement.classList.add("scripted");
}

function commandFor(given) {
  const entries = Object.entries(given).map(([name, state]) => `${name}=${state}`);
  const known = entries.length ? entries : ["NAME=STATE"];
  const options = known.map((text) => ` --given ${quoted(text)}`).join("");
  return `bayesmend query network.bif${options} --inference weighting`;
}

function quoted(text) {
  return /^[\w.=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

function startCells(data, session) {
  const { measure } = data.cells;
  const options = { note: NOTES[data.isEnsemble ? "ensemble" : measure] };
  try {
    options.engine = engineFor(data, session);
    options.indicators = data.mechanism?.of;
  } catch (error) {
    if (!(error instanceof TooWide)) throw error;
    options.refusal = `${error.message} Why this cell is filled so cannot be told here.`;
  }
  const store = new CellStore(data.cells, session);
  return mountCells(document.getElementById("cells-view"), store, options);
}

/** The network, and why cells are missing where it knows. */
function engineFor({ mechanism }, session) {
  if (!mechanism) return session.engine;
  const { card, parents } = mechanism;
  const all = unpack(mechanism.cpts, "f8");
  let at = 0;
  const cpts = parents.map((members, v) => {
    const begin = at;
    at += members.reduce((product, p) => product * card[p], card[v]);
    return all.subarray(begin, at);
  });
  return compile({ card, parents, cpts });
}

/** Tables of probabilities are made when they are unfolded; on paper, all are. */
function fillTables(session) {
  const folded = [...document.querySelectorAll("details[data-table]")];
  const fill = (made) => {
    if (made.children.length > 1) return;
    const table = heatMap(session, Number(made.dataset.table));
    made.append(element("div", { class: "bm" }, table));
  };
  for (const made of folded) {
    made.addEventListener("toggle", () => {
      if (made.open) fill(made);
    });
  }
  addEventListener("beforeprint", () => {
    for (const made of document.querySelectorAll("details")) {
      if (made.dataset.table) fill(made);
      made.open = true;
    }
  });
}

startReport();
