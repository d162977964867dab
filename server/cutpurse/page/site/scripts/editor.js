// The editor of the workshop: CodeMirror. It stands in a shadow root, where its styles need no `style` of the page. The
// build puts its packages beside this file, and their addresses into these lines.
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { python } from "@codemirror/lang-python";
import { bracketMatching, HighlightStyle, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { setDiagnostics } from "@codemirror/lint";
import { EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.self], color: "var(--seat-3)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--good)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--seat-1)" },
  { tag: [tags.definition(tags.variableName), tags.function(tags.variableName), tags.className], color: "var(--seat-0)" },
  { tag: tags.comment, color: "var(--quiet)", fontStyle: "italic" },
]);
const look = EditorView.theme({
  "&": { height: "100%", color: "var(--ink)", backgroundColor: "var(--raised)", fontSize: "var(--code-size)" },
  "&.cm-focused": { outline: "3px solid var(--accent)", outlineOffset: "1px" },
  ".cm-content": { caretColor: "var(--ink)" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.5" },
  ".cm-gutters": { color: "var(--quiet)", backgroundColor: "var(--paper)", borderRight: "1px solid var(--line)" },
  ".cm-activeLine": { backgroundColor: "color-mix(in srgb, var(--accent) 8%, transparent)" },
  ".cm-lintRange-error": { background: "color-mix(in srgb, var(--bad) 16%, transparent)", textDecoration: "underline wavy var(--bad)" },
  ".cm-tooltip": { color: "var(--ink)", backgroundColor: "var(--paper)", border: "1px solid var(--bad)" },
});

export function openEditor(place, label, change, run) {
  let isShown = false; // a text that was put in, which nobody has written
  const root = place.attachShadow({ mode: "open" });
  const view = new EditorView({
    parent: root,
    root,
    extensions: [
      lineNumbers(), history(), indentOnInput(), indentUnit.of("    "), bracketMatching(), highlightActiveLine(),
      python(), syntaxHighlighting(colours), look,
      keymap.of([{ key: "Mod-Enter", run: () => { run(); return true; } }, indentWithTab, ...defaultKeymap, ...historyKeymap]),
      EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0" }),
      EditorView.updateListener.of((update) => { if (update.docChanged && !isShown) change(); }),
    ],
  });
  return {
    get text() { return view.state.doc.toString(); },
    set text(text) {
      isShown = true;
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
      isShown = false;
    },
    mark(faults) {
      const within = faults.filter(({ line }) => line > 0 && line <= view.state.doc.lines);
      const marks = within.map(({ line, text }) => {
        const { from, to } = view.state.doc.line(line);
        return { from, to, severity: "error", message: text };
      });
      view.dispatch(setDiagnostics(view.state, marks), marks.length ? { effects: EditorView.scrollIntoView(marks[0].from, { y: "center" }) } : {});
    },
  };
}
