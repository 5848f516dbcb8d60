// Filters of layers, and on-demand rows for pages with many layers. The rest of the page needs no script.
"use strict";
{
  const form = document.querySelector("form.filters");
  const layers = [...document.querySelectorAll("details.layer")].map((layer) => ({
    layer,
    text: layer.querySelector("summary").textContent.toLowerCase(),
    outcome: layer.dataset.outcome.split(" "),
    runtimes: new Map(
      [...layer.querySelectorAll("[data-runtime]")].map((element) => [element.dataset.runtime, element.dataset.outcome.split(" ")]),
    ),
  }));

  const matches = (outcomes, wanted) =>
    !wanted || (wanted === "passed" ? outcomes.every((outcome) => outcome === wanted) : outcomes.includes(wanted));

  const apply = () => {
    const { text, outcome, runtime } = Object.fromEntries(new FormData(form));
    let count = 0;
    for (const entry of layers) {
      const outcomes = runtime ? entry.runtimes.get(runtime) : entry.outcome;
      const shown = outcomes && matches(outcomes, outcome) && entry.text.includes(text.trim().toLowerCase());
      entry.layer.hidden = !shown;
      count += shown ? 1 : 0;
    }
    for (const group of document.querySelectorAll(".group")) {
      group.hidden = !group.querySelector("details.layer:not([hidden])");
    }
    form.elements.count.value = `${count} of ${layers.length} shown`;
  };

  if (form) {
    form.hidden = false;
    form.addEventListener("input", apply);
    form.addEventListener("submit", (event) => event.preventDefault());
    apply();
  }
}

{
  const packed = document.getElementById("packed");
  const unpack = async () => {
    const bytes = Uint8Array.from(atob(packed.textContent), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return JSON.parse(await new Response(stream).text());
  };
  let unpacked;
  const fill = async (layer) => {
    const about = layer.querySelector(".about");
    unpacked ??= unpack();
    const rows = (await unpacked)[about.id.replace("layer-", "")];
    if (rows && !layer.dataset.filled) {
      layer.dataset.filled = "filled";
      about.innerHTML = rows[0];
      layer.insertAdjacentHTML("beforeend", rows[1]);
    }
  };
  if (packed) {
    document.querySelector(".without-script").hidden = true;
    document.addEventListener("toggle", (event) => event.target.matches("details.layer") && fill(event.target), true);
  }
}
