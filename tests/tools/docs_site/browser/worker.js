// Runs Python beside the page, so that the page answers. Takes [name, data] of files, gives what validating.py returns.
import { loadPyodide } from "./pyodide/pyodide.mjs";

const PACKAGES = "/packages"; // the working directory has the user's files alone
const fetched = async (name) => (await fetch(name)).arrayBuffer();
const started = (async () => {
  const python = await loadPyodide();
  for (const archive of ["ov_gather.zip", "page.zip"]) {
    python.unpackArchive(await fetched(archive), "zip", { extractDir: PACKAGES });
  }
  python.pyimport("sys").path.append(PACKAGES);
  return [python, python.pyimport("validating")];
})();
started.then(() => postMessage({ ready: true }), (error) => postMessage({ error: String(error) }));

onmessage = async ({ data: { files, name, isFix } }) => {
  try {
    const [python, { validated, mended }] = await started;
    const old = files.length ? python.FS.readdir(".").filter((file) => !/^\.+$/.test(file)) : [];
    for (const file of old) python.FS.unlink(file);
    for (const [file, bytes] of files) python.FS.writeFile(file, bytes);
    const found = JSON.parse(isFix ? mended(name) : validated(name));
    const read = (file) => [file, python.FS.readFile(file)];
    postMessage({ ...found, name, files: (found.changed ?? []).map(read) });
  } catch (error) {
    postMessage({ error: error.message ?? JSON.stringify(error), name });
  }
};
