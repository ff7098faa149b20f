// The drawing as a widget of a notebook: what is chosen and known is told both ways.

import { mount } from "./network.js";

/** Show a model of `bayesmend.notebook.NetworkView`; returns how to end that. */
export function render({ model, el }) {
  const data = model.get("_network");
  el.classList.add("bm-widget");
  const view = mount(el, data, { command: model.get("_command") });
  const { session } = view;
  // Positions, not labels: these may look alike.
  const known = () => [...session.evidence].sort(([v], [w]) => v - w);
  const isTold = (name, value) =>
    JSON.stringify(model.get(name)) === JSON.stringify(value);
  const readKnown = () => {
    if (!isTold("_known", known())) session.replace(new Map(model.get("_known")));
  };
  const readChosen = () => {
    const v = model.get("_chosen");
    if (v !== null || data.names.length <= data.drawing.wholeUpTo) session.select(v);
  };
  readKnown();
  readChosen();
  const leave = session.on((kind) => {
    const [name, value] =
      kind === "select" ? ["_chosen", session.selected] : ["_known", known()];
    if (isTold(name, value)) return;
    model.set(name, value);
    model.save_changes();
  });
  model.on("change:_known", readKnown);
  model.on("change:_chosen", readChosen);
  return () => {
    model.off("change:_known", readKnown);
    model.off("change:_chosen", readChosen);
    leave();
    view.destroy();
  };
}
