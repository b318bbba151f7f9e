
// The page: stages, budget, messages, segments and tokens of each execution, and details of what is looked at.

const LONGEST = 50000; // characters of one text among the details
const details = document.getElementById("details");
const digits = (number) => number.toLocaleString("en");
const lines = (text) => text.split("\n").map(visible).join("\n");
const spanned = ([first, end]) => (end - first === 1 ? `token ${first}` : `tokens ${first} to ${end - 1}`);
const counted = (number, word) => `${digits(number)} ${word}${number === 1 ? "" : "s"}`;

const failed = (stage) => stage.id.startsWith("error ");

/** What is said in the place of a number of tokens: of another system that did not tell them, or behind an error. */
function untold(run) {
  const error = run.stages.find(failed);
  if (error !== undefined) {
    const { message, where, help } = Object.fromEntries(error.facts);
    const place = where ? ` at ${where}` : "";
    return ["No tokens", lines(`The ${error.id}${place} ended the execution at the stage ${error.name}: ${message ?? "its words are redacted"}${help ? ` (help: ${help})` : ""}`)];
  }
  const ids = run.count ? undefined : run.stages.find(({ name }) => name === "ids")?.id;
  if (ids === "unknown") return ["Tokens: unknown", "The ids are not known. What was printed is among the segments."];
  return [counted(run.count, "token"), "No tokens."];
}

// ---- details

const narrow = matchMedia("(max-width: 899.98px)").matches;
const help = () => facts(narrow ? "Tap a token, a message or a stage" : "Point at something, or move with the keys", narrow ? [] : [
  ["← → ↑ ↓", "the next token, or the row above or below"],
  ["n p", "the next segment, or the one before"],
  ["Home End", "the ends of the row; with Ctrl the first and the last token"],
  ["Enter", "in messages and segments: to their tokens"],
  ["Esc", "all tokens stand out again"],
]);
let shown = help;

/** Shows what `describe` gives, until something else is looked at. */
function keep(describe) {
  shown = describe;
  details.replaceChildren(...describe());
  details.scrollTop = 0;
}

/** Shows something while the pointer is over it; then again what was kept. */
function glance(describe) {
  details.replaceChildren(...(describe ?? shown)());
}

function facts(title, rows, texts = []) {
  const list = element("dl", {});
  for (const [name, value] of rows) {
    if (value === null || value === "") continue;
    list.append(element("div", {}, element("dt", {}, name), element("dd", {}, lines(value))));
  }
  const blocks = texts.flatMap(([name, text]) => [
    element("h3", {}, text.length > LONGEST ? `${name}, the first ${digits(LONGEST)} of ${digits(text.length)} characters` : name),
    element("pre", {}, lines(text.slice(0, LONGEST))),
  ]);
  return [element("h2", {}, title), list, ...blocks];
}

function aboutToken(run, token) {
  const place = run.place(token);
  const spelling = run.spelling(token);
  const bytes = [...bytesOf(spelling)].map(hex).join(" ");
  const message = place.message === null ? null : `${place.message} (${run.messageAt.get(place.message)?.role ?? "?"})`;
  const [first, end] = place.parts;
  return facts(`Token ${digits(token)} of ${digits(run.count)}`, [
    ["id", String(run.tokens.ids[token])],
    ["text", typeof spelling === "string" ? visible(spelling) : "no whole text"],
    ["bytes", spelling === null ? "not recorded" : bytes || "none"],
    ["origin", `${place.kind}: ${kinds.get(place.kind).words}`],
    ["trust", kinds.get(place.kind).trust],
    ["sampled", run.sampled[token] ? `yes: ${kinds.get("sampled").words}` : "no"],
    ["message", message],
    ["field", place.field],
    ["request", place.paths.join("\n")],
    ["template", place.lines.join("\n")],
    ["segment", end - first > 1 ? `${first} to ${end - 1}` : end > first ? String(first) : null],
  ]);
}

function aboutMessage(run, message) {
  const first = message.index === null ? undefined : run.firstOfMessage.get(message.index);
  return facts(`Message ${message.index ?? "left out"} (${message.role})`, [
    ["left out", message.left],
    ["first token", first === undefined ? null : String(first)],
  ], message.fields);
}

function aboutPart(run, index) {
  const part = run.parts[index];
  const first = run.firstOfPart.get(index);
  return facts(`Segment ${digits(index)} of ${digits(run.parts.length)}`, [
    ["origin", `${part.kind}: ${kinds.get(part.kind).words}`],
    ["trust", kinds.get(part.kind).trust],
    ["sampled", part.sampled ? "yes" : "no"],
    ["place", part.place],
    ["first token", first === undefined ? "none" : String(first)],
  ], [["text", part.text]]);
}

function aboutStage(stage) {
  return facts(`Stage: ${stage.name}`, [["what", stage.id], ["digest", stage.digest ?? "none"], ...stage.facts]);
}

function aboutItem(item) {
  return facts(`${item.section} ${item.items}: ${item.kept ? "kept" : "left out"}`, [
    ["why", item.why],
    ["before", counted(item.before, "token")],
    ["with it", item.after === null ? "not tried" : counted(item.after, "token")],
  ]);
}

function aboutImage(image) {
  const span = image.tokens;
  return facts(`${image.kind} of message ${image.message}`, [
    ["stands for it", span === null ? "not known which" : spanned(span)],
    ["request", image.path],
  ], image.facts);
}

// ---- stages and budget

function stages(run) {
  const list = element("ol", { class: run.stages.length > 8 ? "stages many" : "stages", "aria-label": "Stages" });
  for (const stage of run.stages) {
    const button = element("button", { type: "button", "aria-pressed": "false" },
      element("span", { class: "name" }, stage.name),
      element("span", { class: "id" }, ...stage.id.split(/(?<=\/)/).flatMap((part, at) => (at ? [element("wbr"), part] : [part]))),
      element("span", { class: "digest" }, stage.digest === null ? "—" : stage.digest.replace(/^sha256:(.{10}).*$/, "$1")));
    if (data.difference?.stage === stage.name || failed(stage)) button.classList.add("parts");
    button.addEventListener("click", () => {
      document.querySelectorAll(".stages button").forEach((one) => one.setAttribute("aria-pressed", String(one === button)));
      keep(() => aboutStage(stage));
    });
    button.addEventListener("pointerenter", () => glance(() => aboutStage(stage)));
    button.addEventListener("pointerleave", () => glance(null));
    list.append(element("li", {}, button));
  }
  return list;
}

function budget(run) {
  const { policy, window: room, reserve, sections, items, cut, known } = run.budget;
  const free = room - reserve - run.count;
  const shares = [...sections, ...(policy === null ? [] : [["free", free], ["reserve", reserve]])].filter(([, count]) => count > 0);
  const total = shares.reduce((sum, [, count]) => sum + count, 0);
  const said = shares.map(([name, count]) => `${name} ${digits(count)}`).join(", ");
  const bar = element("div", { class: "bar", role: "img", "aria-label": `Tokens: ${said}` });
  const list = element("ul", { class: "shares" });
  for (const [name, count] of shares) {
    const part = element("i", { class: `share-${name}`, title: `${name} ${digits(count)}` });
    part.style.flex = `${count / total} 1 0`;
    bar.append(part);
    list.append(element("li", {}, element("i", { class: `share-${name}` }), `${name} `, element("b", {}, digits(count))));
  }
  const left = items.filter((item) => !item.kept).length;
  const verdict = policy === null
    ? `${untold(run)[0]}${known ? "; no policy was named, so nothing was left out" : ""}`
    : `${policy}: ${counted(run.count, "token")} of a window of ${digits(room)}; ${left ? `${digits(left)} left out` : "nothing left out"}`;
  list.append(element("li", { class: left || cut ? "why verdict" : "quiet verdict" }, verdict));
  if (cut) list.append(element("li", { class: "why cut" }, cut));
  return element("section", { class: "budget", "aria-label": "Budget" }, bar, list);
}

// ---- tokens

const pen = document.createElement("canvas").getContext("2d");

function tokenPane(run, number) {
  const font = getComputedStyle(document.body).getPropertyValue("--mono");
  const widths = new Map();
  const width = (token) => {
    const key = (run.tokens.spelled[token] << 1) | (run.place(token).kind === "control" ? 1 : 0);
    let found = widths.get(key);
    if (found === undefined) {
      const look = run.look(token);
      pen.font = `${look.raw ? "italic " : ""}${key & 1 ? 600 : 400} 13px ${font}`;
      found = Math.max(Math.ceil(pen.measureText(look.text).width) + 4, 8) + 1;
      widths.set(key, found);
    }
    return found;
  };
  let spot = null; // which tokens stand out; null where all do
  const apart = data.difference?.tokens[number];
  const part = (token) => run.place(token).parts;
  const next = (token) => { const [, end] = part(token); while (token < run.count && part(token)[0] < end) token += 1; return token; };
  const before = (token) => {
    const start = (one) => run.firstOfPart.get(part(one)[0]);
    return start(token) < token ? start(token) : token ? start(token - 1) : -1;
  };
  const list = new List({
    id: `tokens-${number}`, name: "Tokens", count: run.count, height: 26, gutter: 66, width,
    ends: (token) => { const text = run.spelling(token); return typeof text === "string" && text.includes("\n"); },
    draw: (token) => {
      const look = run.look(token);
      const node = element("span", { class: `token ${run.place(token).kind}` }, look.text);
      node.classList.toggle("sampled", run.sampled[token] === 1);
      node.classList.toggle("raw", look.raw);
      node.classList.toggle("beside", spot !== null && !spot(token));
      node.classList.toggle("apart", token === apart);
      return node;
    },
    label: (token) => `${run.look(token).text}, token ${token}, id ${run.tokens.ids[token]}, ${run.place(token).kind}${run.sampled[token] ? ", sampled" : ""}`,
    chosen: (token) => keep(() => aboutToken(run, token)),
    hovered: (token) => glance(token === null ? null : () => aboutToken(run, token)),
    keys: {
      n: next,
      p: before,
      Escape: () => { pane.only(null); return -1; },
    },
  });

  const legend = element("div", { class: "legend", role: "group", "aria-label": "Kinds of origin" });
  const switches = new Map();
  for (const [name, kind] of kinds) {
    const count = run.tally.get(name) ?? 0;
    if (!count && ["mixed", "unknown"].includes(name)) continue;
    const button = element("button", { type: "button", class: "switch", "aria-pressed": "false", title: `${kind.words}; ${kind.trust}` },
      element("span", { class: name === "sampled" ? "token sampled" : `token ${name}` }, name), element("b", {}, digits(count)));
    const test = name === "sampled" ? (token) => run.sampled[token] === 1 : (token) => run.place(token).kind === name;
    button.addEventListener("click", () => pane.only(button.getAttribute("aria-pressed") === "true" ? null : test, button));
    switches.set(name, button);
    legend.append(button);
  }

  const answer = element("span", { class: "quiet", role: "status" });
  const search = element("input", {
    type: "search", placeholder: "text, #index or =id", "aria-label": "Find a token: a text, #index or =id", spellcheck: "false", autocomplete: "off",
  });
  search.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !search.value) return;
    const found = run.find(search.value, list.active);
    answer.textContent = found < 0 ? "not found" : "";
    if (found >= 0) list.move(found, { middle: true });
  });

  const pane = {
    list,
    node: element("section", { class: "pane tokens", "aria-label": "Tokens" },
      element("div", { class: "head" }, element("h2", {}, untold(run)[0]), answer, search), legend,
      run.count ? list.box : element("p", { class: "note" }, untold(run)[1])),
    /** Lets some tokens stand out: those of which `test` is true; of all where it is null. */
    only(test, button = null) {
      spot = test;
      for (const one of switches.values()) one.setAttribute("aria-pressed", String(one === button));
      list.redraw();
    },
    /** Lets them stand out and brings the first into view. */
    point(test, first) {
      pane.only(test);
      if (first !== undefined) list.move(first, { quiet: true, middle: true });
    },
  };
  return pane;
}

// ---- messages, segments, decisions, images

function sources(run, number, tokens) {
  const two = (first, second, ...classes) => element("div", { class: classes.join(" ") }, element("div", {}, ...first), element("div", { class: "line" }, second));
  const what = (text) => element("span", { class: "what" }, text);
  const tag = (text) => element("span", { class: "tag" }, text);
  const within = (span) => (token) => span[0] <= token && token < span[1];
  const all = [
    {
      name: "Messages", items: run.messages, about: (index) => aboutMessage(run, run.messages[index]),
      draw: ({ role, index, left, fields }) => two(
        [what(role || "?"), tag(index === null ? "left out" : String(index)), left ? tag(left) : null],
        beginning(fields.find(([, text]) => text && text !== "null")?.[1] ?? ""), left ? "left" : "kept"),
      label: ({ role, index, left }) => `${role}, ${index === null ? `left out: ${left}` : `message ${index}`}`,
      chosen: ({ index }) => tokens.point(index === null ? null : (token) => run.place(token).message === index, run.firstOfMessage.get(index)),
    },
    {
      name: "Segments", items: run.parts, about: (index) => aboutPart(run, index),
      draw: ({ kind, text, place }) => two([element("span", { class: `kind ${kind}` }, kind), tag(place)], beginning(text) || visible(text) || "empty"),
      label: ({ kind, text, place }) => `${kind}, ${beginning(text, 80)}, ${place}`,
      chosen: (_, index) => tokens.point(
        (token) => { const [first, end] = run.place(token).parts; return first <= index && index < end; }, run.firstOfPart.get(index)),
    },
    {
      name: "Budget", items: run.budget.items, about: (index) => aboutItem(run.budget.items[index]),
      draw: ({ section, items, kept, why, before, after }) => two(
        [what(section), tag(items), tag(kept ? "kept" : "left out")],
        `${why}; ${digits(before)} → ${after === null ? "not tried" : digits(after)}`, kept ? "kept" : "left"),
      label: ({ section, items, kept, why }) => `${section} ${items}, ${kept ? "kept" : "left out"}, ${why}`,
    },
    {
      name: "Images", items: run.images, about: (index) => aboutImage(run.images[index]),
      draw: ({ kind, message, tokens: span }) => two(
        [what(kind), tag(`message ${message}`)], span === null ? "not known which tokens stand for it" : spanned(span)),
      label: ({ kind, message }) => `${kind} of message ${message}`,
      chosen: ({ tokens: span }) => tokens.point(span === null ? null : within(span), span?.[0]),
    },
  ].filter(({ name, items }) => items.length || name === "Messages");

  const tabs = element("div", { class: "tabs", role: "tablist", "aria-label": "What it was made from" });
  const pane = element("section", { class: "pane sources", "aria-label": "Sources" }, element("div", { class: "head" }, tabs));
  const select = (chosen) => all.forEach(({ tab, panel, list }, index) => {
    tab.setAttribute("aria-selected", String(index === chosen));
    tab.tabIndex = index === chosen ? 0 : -1;
    panel.hidden = index !== chosen;
    if (index === chosen) list.fit();
  });
  all.forEach((source, index) => {
    const { name, items, about, draw, label, chosen } = source;
    const id = `${name.toLowerCase()}-${number}`;
    source.list = new List({
      id, name, count: items.length, height: 52,
      draw: (item) => draw(items[item]),
      label: (item) => label(items[item]),
      chosen: (item) => { keep(() => about(item)); chosen?.(items[item], item); },
      entered: () => tokens.list.box.focus(),
      keys: { Escape: () => { tokens.only(null); return -1; } },
      hovered: (item) => glance(item === null ? null : () => about(item)),
    });
    source.tab = element("button", { type: "button", role: "tab", id: `${id}-tab`, "aria-controls": id }, `${name} ${digits(items.length)}`);
    source.tab.addEventListener("click", () => select(index));
    source.tab.addEventListener("keydown", ({ key }) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[key];
      if (!step) return;
      const to = (index + step + all.length) % all.length;
      select(to);
      all[to].tab.focus();
    });
    source.panel = items.length ? source.list.box : element("p", { class: "note", id }, `No ${name.toLowerCase()}.`);
    tabs.append(source.tab);
    pane.append(source.panel);
  });
  select(run.messages.length || !run.parts.length ? 0 : 1);
  return pane;
}

// ---- all of it

function build() {
  const both = executions.length > 1;
  const models = [...new Set(executions.map((run) => run.model))].join(" and ");
  document.title = `${models} · Katapi`;
  document.getElementById("model").textContent = models;
  document.getElementById("versions").textContent = data.versions.map(([name, text]) => `${name} ${text}`).join(" · ");
  document.body.className = both ? "two" : "one";
  const main = document.getElementById("executions");
  main.className = both ? "two" : "one";
  const panes = executions.map((run, number) => {
    const tokens = tokenPane(run, number);
    main.append(element("section", { class: "execution", "aria-label": run.label || run.model },
      both ? element("h2", {}, run.label || run.model) : null,
      stages(run), budget(run), element("div", { class: "panes" }, sources(run, number, tokens), tokens.node)));
    return tokens;
  });
  const difference = data.difference;
  if (both) {
    const box = document.getElementById("difference");
    box.hidden = false;
    box.append(...(difference === null ? [element("p", {}, data.alike)] : [
      element("h2", {}, `First difference: ${difference.stage}`),
      element("p", {}, difference.what),
      element("ul", {}, ...difference.follows.map((text) => element("li", {}, text))),
    ]));
  }
  keep(shown);
  if (difference !== null) panes.forEach(({ list }, number) => list.move(difference.tokens[number], { quiet: number > 0, middle: true }));
}

build();
