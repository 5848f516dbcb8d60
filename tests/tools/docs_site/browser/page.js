// Validation of an IR in the browser. Files go to a worker of this page, and nowhere else.
const [area, picker, state, list, mending, downloads, difference] = ["area", "picker", "state", "findings", "mend", "downloads", "difference"].map(
  (id) => document.getElementById(id),
);
const worker = new Worker("worker.js", { type: "module" });
let lines = [];
let current = "";

const made = (tag, text = "", properties = {}) => Object.assign(document.createElement(tag), { textContent: text }, properties);
const entry = ({ line, severity, rule, message, hint, layer }) => {
  const item = made("li", "", { className: severity });
  const link = made("a", rule, { href: `../reference/rules/${rule}.html` });
  const place = layer ? `${layer.type} '${layer.name}': ` : "";
  item.append(made("b", `${current}:${line}: ${severity} `), link, `: ${place}${message}`);
  if (lines[line - 1]) item.append(made("pre", `${line}  ${lines[line - 1].trim()}`));
  if (hint) item.append(made("p", hint));
  return item;
};
const count = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;

const send = (files, isFix = false) => {
  state.textContent = `${current}: being ${isFix ? "mended" : "validated"}…`;
  mending.hidden = true;
  worker.postMessage({ files, name: current, isFix });
};

const take = async (given) => {
  const documents = given.filter(({ name }) => name.toLowerCase().endsWith(".xml"));
  list.replaceChildren();
  downloads.replaceChildren();
  difference.textContent = "";
  if (documents.length !== 1) {
    state.textContent = "Give one .xml, and the .bin of the same name if there is one.";
    return;
  }
  current = documents[0].name;
  lines = (await documents[0].text()).split(/\r?\n/);
  send(await Promise.all(given.map(async (file) => [file.name, new Uint8Array(await file.arrayBuffer())])));
};

worker.onmessage = ({ data }) => {
  if (data.ready) {
    if (!current) state.textContent = "Ready.";
  } else if (data.error) {
    state.textContent = `This page cannot validate it: ${data.error.trim().split("\n").at(-1)}. The command can.`;
  } else if (data.changed) {
    difference.textContent = data.difference;
    for (const [name, bytes] of data.files) {
      const address = URL.createObjectURL(new Blob([bytes]));
      downloads.append(made("li"));
      downloads.lastChild.append(made("a", `Download ${name}`, { href: address, download: name }));
      if (name === current) lines = new TextDecoder().decode(bytes).split(/\r?\n/);
    }
    send([]);
  } else {
    list.replaceChildren(...data.findings.map(entry));
    const errors = data.findings.filter(({ severity }) => severity === "error").length;
    state.textContent = `${current}: ${count(errors, "error")}, ${count(data.findings.length, "finding")}.`;
    mending.hidden = !data.mendable;
    mending.textContent = `Mend ${count(data.mendable, "finding")}`;
  }
};
worker.onerror = () => {
  state.textContent = "Python does not start in this browser.";
};
state.textContent = "Python is being started…";

area.addEventListener("dragover", (event) => event.preventDefault());
area.addEventListener("drop", (event) => {
  event.preventDefault();
  take([...event.dataTransfer.files]);
});
picker.addEventListener("change", () => take([...picker.files]));
mending.addEventListener("click", () => send([], true));
document.getElementById("sample").addEventListener("click", () => {
  take([new File([document.getElementById("broken").textContent.trimStart()], "axis_3.xml")]);
});
