// Runs the page's Python beside the tab: the messages are those of cutpurse.page.site. One is answered after the other.
const post = (kind, data) => postMessage({ kind, data });
let tab = null, turn = Promise.resolve();

// Python gets a MemoryError before the browser gives up: a bot that eats memory does not take its tab along.
const MAX_BYTES = 1e9, PAGE_BYTES = 65_536, { grow } = WebAssembly.Memory.prototype;
WebAssembly.Memory.prototype.grow = function (pages) {
  if (this.buffer.byteLength + pages * PAGE_BYTES > MAX_BYTES) throw new RangeError("the memory of this tab is used up");
  return grow.call(this, pages);
};

function countBytes() {
  const plain = fetch.bind(self);
  let bytes = 0;
  const counting = () => new TransformStream({
    transform(part, flow) {
      bytes += part.byteLength;
      post("loading", bytes);
      flow.enqueue(part);
    },
  });
  self.fetch = async (...asked) => {
    const answer = await plain(...asked);
    return new Response(answer.body?.pipeThrough(counting()), answer);
  };
}

async function load({ python, pyodide }) {
  countBytes();
  const archive = fetch(python).then((answer) => answer.arrayBuffer());
  const { loadPyodide } = await import(`${pyodide}/pyodide.js`);
  const { default: createPyodideModule } = await import(`${pyodide}/pyodide.asm.js`);
  const py = await loadPyodide({ indexURL: `${pyodide}/`, createPyodideModule });
  py.unpackArchive(await archive, "zip", { extractDir: "/python" });
  py.runPython("import sys; sys.path.insert(0, '/python')");
  tab = py.pyimport("cutpurse.page.site.tab").Tab(post);
  post("ready");
}

async function answer(message) {
  if (message.kind === "load") await load(message);
  else if (message.kind === "open") tab.open(new Uint8Array(message.content), message.at, message.seat);
  else tab.receive(JSON.stringify(message));
}

addEventListener("message", ({ data }) => {
  turn = turn.then(() => answer(data)).catch((problem) => post("broken", String(problem?.message ?? problem).trim().split("\n").at(-1)));
});
