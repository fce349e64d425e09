"use strict";
for (const script of document.querySelectorAll("script[data-plot]")) {
  const { data, layout } = JSON.parse(script.textContent);
  Plotly.newPlot(script.dataset.plot, data, layout, { responsive: true, displaylogo: false });
}
// Figures are drawn anew for the width of the paper, and for that of the screen afterwards.
for (const moment of ["beforeprint", "afterprint"]) {
  addEventListener(moment, () => document.querySelectorAll(".js-plotly-plot").forEach((plot) => Plotly.Plots.resize(plot)));
}

const figure = (text) => (text === "inf" ? Infinity : Number(text));

const compare = (a, b) => {
  const [x, y] = [figure(a), figure(b)];
  if (a !== "" && b !== "" && !Number.isNaN(x) && !Number.isNaN(y)) return x === y ? 0 : x - y;
  return a.localeCompare(b);
};

for (const button of document.querySelectorAll(".sortable th button")) {
  button.addEventListener("click", () => {
    const head = button.parentElement;
    const column = head.cellIndex;
    const table = head.closest("table");
    const direction = head.getAttribute("aria-sort") === "ascending" ? "descending" : "ascending";
    for (const other of head.parentElement.cells) other.setAttribute("aria-sort", "none");
    head.setAttribute("aria-sort", direction);
    const sign = direction === "ascending" ? 1 : -1;
    const rows = [...table.tBodies[0].rows];
    rows.sort((a, b) => sign * compare(a.cells[column].dataset.value, b.cells[column].dataset.value));
    table.tBodies[0].append(...rows);
  });
}
