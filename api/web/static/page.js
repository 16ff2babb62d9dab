// What the page does beyond links and forms: scheme, dialogs, copying, live parts, keys.
// Every page can be read and every form can be sent without this file.
(() => {
  const first = (selector, inside = document) => inside.querySelector(selector);
  const all = (selector, inside = document) => [...inside.querySelectorAll(selector)];
  const REFRESH_MS = 2000;
  const root = document.body.dataset.root || "./";

  const say = (text) => {
    first("#say").textContent = text; // read aloud; the box below is for the eye
    first(".toast")?.remove();
    const box = Object.assign(document.createElement("div"), { className: "toast", textContent: text });
    box.setAttribute("aria-hidden", "true");
    document.body.append(box);
    setTimeout(() => box.remove(), 3200);
  };

  const localTimes = (inside = document) => {
    for (const each of all("time[data-time]", inside)) {
      const moment = new Date(each.dateTime);
      const fine = "fine" in each.dataset ? `.${`${moment.getMilliseconds()}`.padStart(3, "0")}` : "";
      const time = moment.toLocaleTimeString("en-GB") + fine;
      const sameDay = moment.toDateString() === new Date().toDateString();
      each.textContent = sameDay ? time : `${moment.toLocaleDateString("en-GB", { day: "numeric", month: "short" })}, ${time}`;
      const minutes = -moment.getTimezoneOffset();
      const hours = `${Math.trunc(Math.abs(minutes) / 60)}`.padStart(2, "0");
      each.title = `UTC${minutes < 0 ? "−" : "+"}${hours}:${`${Math.abs(minutes) % 60}`.padStart(2, "0")}`;
    }
  };

  const switchScheme = () => {
    const { dataset } = document.documentElement;
    const dark = dataset.theme ? dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    dataset.theme = dark ? "light" : "dark";
    try { localStorage.setItem("theme", dataset.theme); } catch { /* storage may be forbidden */ }
  };

  // Dialogs. <dialog> keeps the focus inside and closes on Esc; the opener gets the focus back.
  let opener = null;
  const openDialog = (id) => {
    const dialog = document.getElementById(id);
    if (!(dialog instanceof HTMLDialogElement) || dialog.open) return false;
    opener = document.activeElement;
    dialog.showModal();
    const heading = first("h2", dialog); // so that the consequences are read before anything is typed
    if (heading) { heading.tabIndex = -1; heading.focus(); }
    return true;
  };
  const closeDialog = (dialog) => {
    dialog.close();
    if (location.hash.length > 1) history.replaceState(null, "", location.pathname + location.search);
  };
  const checkConfirmed = (input) => {
    const button = first("[data-confirmed]", input.form);
    if (button) button.disabled = input.value.trim() !== input.dataset.confirm;
  };
  const watchDialogs = () => {
    for (const dialog of all("dialog")) dialog.addEventListener("close", () => { opener?.focus?.(); opener = null; });
    all("[data-confirm]").forEach(checkConfirmed);
    const asked = first("dialog[data-open]");
    if (asked) openDialog(asked.id);
    else if (location.hash.length > 1) openDialog(decodeURIComponent(location.hash.slice(1)));
  };

  const clicked = (event) => {
    const target = event.target;
    if (!(target instanceof Element)) return;
    if (target.closest("[data-theme-toggle]")) switchScheme();
    const opens = target.closest("[data-dialog]");
    if (opens && openDialog(opens.dataset.dialog)) { event.preventDefault(); return; }
    if (target.closest("[data-close]")) { event.preventDefault(); closeDialog(target.closest("dialog")); return; }
    if (target instanceof HTMLDialogElement) closeDialog(target); // the backdrop
    const copies = target.closest("[data-copy]");
    if (copies) {
      navigator.clipboard?.writeText(copies.dataset.copy).then(
        () => say("Copied"), () => say("The browser does not allow copying here"));
    }
    for (const menu of all(".tabbar details[open]")) if (!menu.contains(target)) menu.open = false;
  };

  // A part that is read later has a box: grey lines where the part has no content after 400 ms, and after
  // 5 s a sentence on who does not answer. Without script, the part has a link instead.
  const LINES_MS = 400;
  const SLOW_MS = 5000;
  const tell = (box, text) => {
    const line = first("p", box);
    line.textContent = text;
    line.hidden = box.hidden = false;
    first("#say").textContent = text;
  };
  const showLines = (box, instead) => {
    box.hidden = false;
    instead.hidden = true;
    first("#say").textContent = box.dataset.say;
  };
  const beginReading = (part, box) => {
    const instead = first("[data-instead]", part);
    box.hidden = first("p", box).hidden = true;
    box.toggleAttribute("data-again", !instead);
    part.setAttribute("aria-busy", "true");
    const lines = setTimeout(() => instead && showLines(box, instead), LINES_MS);
    const slow = setTimeout(() => tell(box, box.dataset.slow), SLOW_MS);
    return (problem) => {
      clearTimeout(lines);
      clearTimeout(slow);
      part.removeAttribute("aria-busy");
      box.hidden = true;
      if (!problem) return;
      if (instead) instead.hidden = false;
      box.toggleAttribute("data-again", true);
      tell(box, problem);
    };
  };
  const readings = new WeakMap(); // request → the end of its reading
  const requestBegins = ({ detail }) => {
    const part = detail.target?.closest("[data-loading]");
    const box = part && document.getElementById(`loading-${part.dataset.loading}`);
    if (box) readings.set(detail.xhr, beginReading(part, box));
  };
  const isSignedOut = (xhr) => new URL(xhr.responseURL || location.href).pathname.endsWith("/login");
  const requestEnds = ({ detail: { xhr } }) => {
    const answer = xhr.status && { ok: xhr.status < 400, status: xhr.status, redirected: isSignedOut(xhr) };
    readings.get(xhr)?.(problemOf(answer));
  };

  // Live parts: each element with `data-live` is read again and morphed by ids, from the address that
  // the attribute holds, or from the page's own.
  let held = false;
  const holdButton = () => first("[data-hold]");
  const keepsOpen = (name, node) => !(name === "open" && node.nodeName === "DETAILS");
  const morph = (part, found) => {
    const fresh = found.getElementById(part.id);
    if (!fresh) return;
    localTimes(fresh); // before the morph, so that equal times change nothing
    window.Idiomorph.morph(part, fresh, { morphStyle: "outerHTML", callbacks: { beforeAttributeUpdated: keepsOpen } });
    all("[data-confirm]").forEach(checkConfirmed); // a form may have come with the part
  };
  // Failed readings in a row. After two, the page says from when its figures are.
  let failures = 0;
  let readAt = new Date();
  const noteReading = (problem) => {
    failures = problem ? failures + 1 : 0;
    const note = first("#unanswered");
    if (!problem) { readAt = new Date(); note.hidden = true; }
    if (failures < 2 || !note.hidden) return;
    first("p", note).textContent = `${problem} The figures on this page are from ${readAt.toLocaleTimeString("en-GB")}.`;
    note.hidden = false;
  };
  const problemOf = (answer) => {
    if (!answer) return "The admin does not answer.";
    if (answer.redirected) return "You are signed out. Load the page again to sign in.";
    return answer.ok ? "" : `The admin answers with the error ${answer.status}.`;
  };
  const here = () => location.pathname + location.search;
  const readAgain = async (address, parts, always) => {
    const answer = await fetch(address, { headers: { Accept: "text/html", "HX-Request": "true", "HX-Current-URL": location.href } }).catch(() => null);
    const problem = problemOf(answer);
    if (problem || (held && !always) || first("dialog[open]")) return problem;
    if (parts.some((part) => !part.dataset.live) && address !== here()) return ""; // a group was opened meanwhile
    const found = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const part of parts) morph(part, found);
    return "";
  };
  const refresh = async (always = false) => {
    if ((held && !always) || document.hidden || !window.Idiomorph || first("dialog[open]")) return "";
    const own = here();
    const live = all("[data-live]");
    const addresses = [...new Set(live.map((part) => part.dataset.live || own))];
    const partsAt = (address) => live.filter((part) => (part.dataset.live || own) === address);
    const read = (address) => readAgain(address, partsAt(address), always).catch(() => ""); // the next one may succeed
    const problems = await Promise.all(addresses.map(read));
    const problem = problems.find(Boolean) || "";
    noteReading(problem);
    return problem;
  };
  // A group of a long list: the address has the open ones, so each reading brings their rows.
  const groupToggled = async ({ target }) => {
    const group = target.dataset?.group;
    if (group === undefined) return;
    const address = new URL(location.href);
    const others = address.searchParams.getAll("open").filter((each) => each !== group);
    address.searchParams.delete("open");
    for (const each of target.open ? [...others, group] : others) address.searchParams.append("open", each);
    history.replaceState(null, "", address);
    const box = first(".loading", target);
    if (!target.open || !box) return;
    const end = beginReading(target, box);
    end(await refresh(true));
  };
  const hold = () => {
    if (!first("[data-live]")) return;
    held = !held;
    holdButton()?.setAttribute("aria-pressed", String(held));
    say(held ? "Live updates are frozen" : "Live updates continue");
  };

  const goTo = { o: "", m: "mappings", r: "routes", f: "failover", p: "peek", d: "dead-letters", s: "servers", a: "audit", u: "users", b: "backup" };
  let gPressedAt = 0;
  const step = (by) => {
    const links = all("main tr.link .go").filter((each) => each.offsetParent);
    const now = links.indexOf(document.activeElement);
    links[Math.max(0, Math.min(links.length - 1, now < 0 ? 0 : now + by))]?.focus();
  };
  const onKey = {
    "/": () => first("[data-key='/']")?.focus(),
    f: () => first("[data-filter]")?.focus(),
    "?": () => openDialog("keys"),
    j: () => step(1),
    k: () => step(-1),
    p: () => hold(),
    g: () => { gPressedAt = Date.now(); },
  };
  const keyPressed = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !(event.target instanceof Element)) return;
    if (event.target.matches("input, select, textarea, [contenteditable], .cm-content")) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    if (first("dialog[open]") || document.body.dataset.keys === "off") return;
    if (Date.now() - gPressedAt < 1200 && event.key in goTo) { location.href = root + goTo[event.key]; return; }
    gPressedAt = 0;
    if (Object.hasOwn(onKey, event.key)) { event.preventDefault(); onKey[event.key](); }
  };

  document.addEventListener("click", clicked);
  document.addEventListener("keydown", keyPressed);
  document.addEventListener("input", (event) => { if (event.target.matches("[data-confirm]")) checkConfirmed(event.target); });
  document.addEventListener("toggle", groupToggled, true); // it does not bubble
  document.addEventListener("htmx:beforeRequest", requestBegins);
  document.addEventListener("htmx:beforeSwap", ({ detail }) => { if (isSignedOut(detail.xhr)) detail.shouldSwap = false; });
  document.addEventListener("htmx:afterRequest", requestEnds);
  document.addEventListener("htmx:afterSettle", (event) => localTimes(event.target));
  holdButton()?.addEventListener("click", hold);
  for (const field of all("[data-file-field]")) field.hidden = false;
  for (const picker of all("[data-file-into]")) {
    picker.addEventListener("change", async () => {
      const [file] = picker.files;
      if (file) document.getElementById(picker.dataset.fileInto).value = await file.text();
    });
  }
  watchDialogs();
  localTimes();
  if (first("[data-live]")) setInterval(() => refresh(), REFRESH_MS);
})();
