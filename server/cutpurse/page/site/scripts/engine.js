// The worker of this tab. `cutpurseEngine(receive, tell)` starts it; the function that it returns sends it a message.
// `receive` gets its messages by kind, `tell` the progress as text, and whether that is trouble. The function's `end` ends
// the worker, whatever it does.
"use strict";

globalThis.cutpurseEngine = (receive, tell) => {
  const words = document.getElementById("engine").dataset;
  if (typeof WebAssembly !== "object") { tell(words.none, true); return Object.assign(() => {}, { end() {} }); }
  const at = (address) => new URL(address, location).href;
  const inMb = (bytes) => (bytes / 1e6).toFixed(1);
  const fail = (why) => tell(words.broken.replace("{why}", () => why), true);
  const started = (async () => {
    await globalThis.cutpurseOffline;
    const worker = new Worker(at(words.worker), { type: "module" });
    worker.addEventListener("message", ({ data: { kind, data } }) => {
      const isLoaded = data >= Number(words.bytes);
      if (kind === "loading") tell(isLoaded ? words.starting : words.loading.replace("{now}", inMb(data)).replace("{all}", inMb(words.bytes)));
      else if (receive[kind]) receive[kind](data);
      else if (kind === "broken") fail(data);
    });
    worker.addEventListener("error", (event) => fail(event.message ?? words.worker));
    worker.postMessage({ kind: "load", python: at(words.python), pyodide: at(words.pyodide) });
    document.documentElement.dataset.engine = "starts"; // for tests
    return worker;
  })();
  const send = (message, moved = []) => started.then((worker) => worker.postMessage({ file: words.file, ...message }, moved));
  return Object.assign(send, { end: () => started.then((worker) => worker.terminate()) });
};
