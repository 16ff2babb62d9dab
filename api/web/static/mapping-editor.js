// The editor of the mapping documents: one document at a time, line marks, problems while typing.
// Without this file all four documents stand below each other, and Check lists the problems.
(() => {
  const form = document.querySelector("[data-mapping-editor]");
  if (!form) return;
  const LINE_PX = 22;
  const QUIET_MS = 500;
  const names = ["dbs", "tbs", "topics", "tags"];
  const text = (name) => form.elements.namedItem(name);
  const byName = (attribute, name) => form.querySelector(`[data-${attribute}="${name}"]`);
  let ofServer = { dbs: [], tbs: [], topics: [], tags: [] };

  // The line of the first JSON error, 0 without one. Engines word it differently; all count from 1.
  const errorOf = (value) => {
    try { if (value.trim()) JSON.parse(value); return null; } catch (error) {
      const told = /line (\d+) column (\d+)/.exec(error.message);
      if (told) return { line: Number(told[1]), column: Number(told[2]), sentence: error.message };
      const at = /position (\d+)/.exec(error.message);
      const before = value.slice(0, at ? Number(at[1]) : value.length).split("\n");
      return { line: before.length, column: before.at(-1).length + 1, sentence: error.message };
    }
  };

  const mark = (name) => {
    const area = text(name);
    const count = area.value.split("\n").length;
    const broken = errorOf(area.value);
    const bad = new Set(broken ? [broken.line] : ofServer[name]);
    // A document on one line is wrapped, so that all of it is seen; with more, a line is a row.
    area.classList.toggle("one-line", count === 1);
    area.rows = 6;
    area.rows = Math.max(6, count === 1 ? Math.ceil(area.scrollHeight / LINE_PX) : count + 1);
    const gutter = Array.from({ length: count }, (_, at) => {
      const line = document.createElement("span");
      line.textContent = at + 1;
      if (bad.has(at + 1)) line.className = "bad";
      return line;
    });
    const box = byName("editor", name);
    box.querySelector(".gutter").replaceChildren(...gutter);
    box.querySelector(".marks").replaceChildren(...[...bad].map((line) => {
      const stripe = document.createElement("i");
      stripe.style.top = `${(line - 1) * LINE_PX}px`;
      return stripe;
    }));
    return broken;
  };

  const readProblems = () => {
    ofServer = { dbs: [], tbs: [], topics: [], tags: [] };
    for (const link of form.querySelectorAll("#problems [data-line]")) {
      ofServer[link.hash.slice(1)].push(Number(link.dataset.line));
    }
  };

  const showOwn = (name, broken) => {
    const link = Object.assign(document.createElement("a"), { href: `#${name}` });
    Object.assign(link.dataset, { line: broken.line, column: broken.column });
    link.append(Object.assign(document.createElement("b"), { textContent: `Line ${broken.line}` }));
    const where = Object.assign(document.createElement("span"), { className: "code", textContent: ` ${name}` });
    const sentence = Object.assign(document.createElement("p"), { textContent: `Not JSON: ${broken.sentence}` });
    const inner = document.createElement("div");
    inner.append(link, where, sentence);
    const row = Object.assign(document.createElement("div"), { className: "problem" });
    row.append(document.createElement("span"), inner);
    form.querySelector("#problems").replaceChildren(row);
    form.querySelector("#problems-h").textContent = "1 problem";
  };

  let asked = 0;
  const check = async () => {
    if (!form.dataset.check) return; // a reader who may not edit
    const mine = ++asked;
    const answer = await fetch(form.dataset.check, { method: "POST", body: new URLSearchParams(new FormData(form)) });
    if (!answer.ok || mine !== asked) return;
    const read = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (mine !== asked) return;
    form.querySelector("#findings").replaceWith(read.querySelector("#findings"));
    for (const name of names) byName("count", name).replaceWith(read.querySelector(`[data-count="${name}"]`));
    readProblems();
    names.forEach(mark);
  };

  let timer = 0;
  const edited = (event) => {
    const name = event.target.name;
    if (!names.includes(name)) return;
    ofServer[name] = [];
    const broken = mark(name);
    asked += 1; // an answer that is under way speaks of an older text
    clearTimeout(timer);
    if (broken) showOwn(name, broken);
    timer = setTimeout(() => check().catch(() => {}), QUIET_MS);
  };

  const choose = (name) => {
    for (const each of names) {
      document.getElementById(each).hidden = each !== name;
      const link = byName("document", each);
      if (each === name) link.setAttribute("aria-current", "true"); else link.removeAttribute("aria-current");
      if (each === name) mark(each); // a hidden field has no height
    }
  };

  const goTo = (name, line, column) => {
    choose(name);
    const area = text(name);
    const lines = area.value.split("\n");
    const at = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0) + column - 1;
    area.focus({ preventScroll: true });
    area.setSelectionRange(at, at + Math.max(0, (lines[line - 1] || "").length - column + 1));
    window.scrollTo({ top: area.getBoundingClientRect().top + window.scrollY + (line - 1) * LINE_PX - 200 });
  };

  const format = () => {
    const area = names.map(text).find((each) => !each.closest("section").hidden);
    if (errorOf(area.value)) return;
    const parsed = JSON.parse(area.value || "[]");
    if (!Array.isArray(parsed) || !parsed.length) return;
    const one = (each) => `  ${JSON.stringify(each).replace(/("(?:[^"\\]|\\.)*")([:,])/g, "$1$2 ")}`;
    area.value = `[\n${parsed.map(one).join(",\n")}\n]\n`;
    area.dispatchEvent(new Event("input", { bubbles: true }));
  };

  form.addEventListener("input", edited);
  form.addEventListener("click", (event) => {
    const chosen = event.target.closest("[data-document]");
    const problem = event.target.closest("[data-line]");
    if (!chosen && !problem) return;
    event.preventDefault();
    if (chosen) choose(chosen.dataset.document);
    else goTo(problem.hash.slice(1), Number(problem.dataset.line), Number(problem.dataset.column));
  });
  const button = form.querySelector("[data-format]");
  button.hidden = false;
  button.addEventListener("click", format);
  readProblems();
  names.forEach(mark);
  const wanted = location.hash.slice(1);
  const first = names.find((name) => ofServer[name].length) || form.dataset.first;
  choose(names.includes(wanted) ? wanted : first);
})();
