// Elements made of text: nothing that comes from data can act as markup.

const SVG = "http://www.w3.org/2000/svg";

/** Make an element; `on...` are listeners, all else attributes; text is only text. */
export function element(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** Make an element of a drawing. */
export function shape(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

function filled(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

/** Let an element be as long, or as strong, as a share between 0 and 1. */
export function sized(made, share) {
  made.style.setProperty("--p", share.toFixed(4));
  return made;
}

/** Show a share as percent. */
export function percent(share) {
  const value = 100 * share;
  if (value > 0 && value < 0.05) return "<0.1 %";
  if (value < 100 && value > 99.95) return ">99.9 %";
  return `${value.toFixed(1)} %`;
}

/** Show a whole number. */
export function count(value) {
  return value.toLocaleString("en");
}

/** Show a probability that may be far below the smallest number, by its logarithm. */
export function fromLog(logarithm) {
  if (logarithm === -Infinity) return "0";
  if (logarithm > Math.log(1e-4)) return percent(Math.exp(logarithm));
  const tenth = logarithm / Math.LN10;
  const power = Math.floor(tenth);
  return `${(10 ** (tenth - power)).toFixed(2)}e${power}`;
}
