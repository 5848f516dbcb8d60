// Filters of cards, links into closed cards, on-demand content for pages with many, and hints of width. The rest of the page needs no script.
"use strict";
{
  const cards = [...document.querySelectorAll("details.card")];

  // Content of closed cards
  const packed = document.getElementById("packed");
  const unpack = async () => {
    const bytes = Uint8Array.from(atob(packed.textContent), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return JSON.parse(await new Response(stream).text());
  };
  let unpacked;
  const fill = async (card) => {
    const content = card.querySelector(".content");
    unpacked ??= packed ? unpack() : {};
    const html = (await unpacked)[content.id.replace("card-", "")];
    if (html && !content.hasChildNodes()) content.innerHTML = html;
  };
  if (packed) {
    document.querySelector(".without-script").hidden = true;
    document.addEventListener("toggle", (event) => event.target.matches("details.card") && fill(event.target), true);
  }

  // Filters, kept in the address. What does not belong to them stays there: pages may be served with a key in it.
  const form = document.querySelector("form.filters");
  const rows = [...document.querySelectorAll(".overview tbody tr")];
  const entries = cards.map((card, i) => ({
    card,
    row: rows[i],
    text: card.querySelector("summary").textContent.toLowerCase(),
    runtimes: new Map([...card.querySelectorAll("[data-runtime]")].map((chip) => [chip.dataset.runtime, chip])),
  }));
  const fields = form ? [...form.elements].filter((field) => field.matches("input, select")) : [];
  const has = (element, { name, value }) => (element.dataset[name] ?? "").split("\n").includes(value);

  // Facts of a runtime, where one is chosen, replace those of the whole card.
  const matches = ({ card, text, runtimes }) => {
    const chosen = form.elements.runtime?.value;
    const chip = chosen ? runtimes.get(chosen) : card;
    return fields.every((field) => {
      if (!field.value || field.name === "runtime") return chip;
      if (field.name === "text") return text.includes(field.value.trim().toLowerCase());
      return chip && has(field.name in chip.dataset ? chip : card, field);
    });
  };
  const button = form?.querySelector("button");
  const shown = () => cards.filter((card) => !card.hidden);
  const label = () => {
    const visible = shown();
    button.textContent = visible.length && visible.every((card) => card.open) ? "Collapse all" : "Expand all";
  };
  const apply = () => {
    for (const entry of entries) {
      entry.card.hidden = !matches(entry);
      if (entry.row) entry.row.hidden = entry.card.hidden;
    }
    for (const group of document.querySelectorAll(".group")) {
      group.hidden = !group.querySelector("details.card:not([hidden])");
    }
    form.elements.count.value = `${shown().length} of ${cards.length} shown`;
    label();
  };
  const remember = () => {
    const address = new URL(location);
    for (const { name, value } of fields) {
      value ? address.searchParams.set(name, value) : address.searchParams.delete(name);
    }
    history.replaceState(null, "", address);
  };
  if (form) {
    form.hidden = false;
    for (const field of fields) field.value = new URL(location).searchParams.get(field.name) ?? "";
    for (const field of fields) if (field.selectedIndex === -1) field.value = ""; // an option of another page
    form.addEventListener("input", () => { apply(); remember(); });
    form.addEventListener("submit", (event) => event.preventDefault());
    button.addEventListener("click", () => {
      const open = button.textContent === "Expand all";
      for (const card of shown()) card.open = open;
      label();
    });
    document.addEventListener("toggle", label, true);
    apply();
  }

  // A hint where more is to the right: a phone shows no bar until it is touched.
  const hint = () => {
    for (const area of document.querySelectorAll(".scroll")) area.classList.toggle("wide", area.scrollWidth > area.clientWidth);
  };
  addEventListener("resize", hint);
  new ResizeObserver(hint).observe(document.querySelector("main"));

  // Links into cards: open, fill and unhide what they lead to.
  const follow = async () => {
    const number = location.hash.match(/^#(?:card|failure)-(\d+)/)?.[1];
    const card = document.getElementById(`card-${number}`)?.closest("details");
    if (!card) return;
    if (card.hidden) {
      form.reset();
      apply();
      remember();
    }
    await fill(card);
    card.open = true;
    const target = document.getElementById(location.hash.slice(1)) ?? card;
    if (!target.matches(":target")) location.replace(location.hash); // it was not there when the browser looked
    target.scrollIntoView();
  };
  window.addEventListener("hashchange", follow);
  follow();
}
