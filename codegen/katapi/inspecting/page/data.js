"use strict";

// The data of the page, and what follows from it.

/** Characters that do not show as themselves: controls, formats, separators, and spaces other than the common one. */
const UNSEEN =
  /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u00a0\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u2000-\u200a\u202f\u205f\u3000\u3164\ufe00-\ufe0f]/gu;
const SIGNS = new Map([["\n", "↵"], ["\t", "⇥"], ["\r", "␍"], ["\u007f", "␡"]]);

/** A text in which everything can be seen; it stays on one line. */
function visible(text) {
  const seen = text.replace(UNSEEN, (one) => {
    const code = one.codePointAt(0);
    if (SIGNS.has(one)) return SIGNS.get(one);
    return code < 0x20 ? String.fromCodePoint(0x2400 + code) : `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
  });
  return /^\p{M}/u.test(seen) ? `◌${seen}` : seen;
}

const hex = (byte) => byte.toString(16).toUpperCase().padStart(2, "0");

/** The first characters of a text, on one line. */
function beginning(text, length = 240) {
  return visible(text.slice(0, length).replace(/[\uD800-\uDBFF]$/u, "").replace(/[ \n\t\r]+/g, " ").trim());
}

/** The bytes of a spelling, which is a text, a list of bytes, or null where it is not known. */
function bytesOf(spelling) {
  if (spelling === null) return new Uint8Array();
  return typeof spelling === "string" ? new TextEncoder().encode(spelling) : Uint8Array.from(spelling);
}

/** How a spelling is shown: its text, and whether that is not what it spells. */
function shownOf(spelling) {
  if (spelling === null) return { text: "?", raw: true };
  if (spelling === "") return { text: "∅", raw: true };
  if (typeof spelling === "string") return { text: visible(spelling), raw: false };
  return { text: spelling.map(hex).join(" "), raw: true };
}

/** One execution: its columns of tokens, and where in them messages and segments begin. */
class Execution {
  constructor(raw) {
    Object.assign(this, raw);
    const { ids, spellings, spelled, places, sampled } = raw.tokens;
    this.count = ids.length;
    this.shown = spellings.map(shownOf);
    this.sampled = new Uint8Array(this.count);
    for (let at = 0; at < sampled.length; at += 2) {
      this.sampled.fill(1, sampled[at], sampled[at + 1] ?? this.count);
    }
    this.firstOfMessage = new Map();
    this.firstOfPart = new Map();
    this.tally = new Map();
    places.forEach((index, token) => {
      const place = this.places[index];
      this.tally.set(place.kind, (this.tally.get(place.kind) ?? 0) + 1);
      if (place.message !== null && !this.firstOfMessage.has(place.message)) this.firstOfMessage.set(place.message, token);
      for (let part = place.parts[0]; part < place.parts[1]; part += 1) {
        if (!this.firstOfPart.has(part)) this.firstOfPart.set(part, token);
      }
    });
    this.tally.set("sampled", this.sampled.reduce((sum, one) => sum + one, 0));
    this.messageAt = new Map(this.messages.filter((one) => one.index !== null).map((one) => [one.index, one]));
  }

  place(token) {
    return this.places[this.tokens.places[token]];
  }

  spelling(token) {
    return this.tokens.spellings[this.tokens.spelled[token]];
  }

  look(token) {
    return this.shown[this.tokens.spelled[token]];
  }

  /** The first token behind `from` that `wanted` names: `#7` an index, `=7` an id, anything else a text; or -1. */
  find(wanted, from) {
    if (/^#\d+$/.test(wanted)) {
      const index = Number(wanted.slice(1));
      return index < this.count ? index : -1;
    }
    if (/^=\d+$/.test(wanted)) {
      const id = Number(wanted.slice(1));
      const behind = this.tokens.ids.indexOf(id, from + 1);
      return behind >= 0 ? behind : this.tokens.ids.indexOf(id);
    }
    this.index ??= this.#spread();
    const { letters, ends } = this.index;
    const sought = one_a_byte(new TextEncoder().encode(wanted));
    const start = from < 0 ? 0 : ends[from];
    let at = letters.indexOf(sought, start);
    if (at < 0) at = letters.indexOf(sought);
    return at < 0 ? -1 : ends.findIndex((end) => end > at);
  }

  /** All bytes of the tokens as one text with a letter for each, and where each token ends in it. */
  #spread() {
    const bytes = this.tokens.spellings.map(bytesOf);
    const ends = new Uint32Array(this.count);
    let length = 0;
    this.tokens.spelled.forEach((one, token) => { length += bytes[one].length; ends[token] = length; });
    const all = new Uint8Array(length);
    this.tokens.spelled.forEach((one, token) => all.set(bytes[one], ends[token] - bytes[one].length));
    return { letters: one_a_byte(all), ends };
  }
}

const one_a_byte = (bytes) => new TextDecoder("latin1").decode(bytes);

const data = JSON.parse(document.getElementById("data").textContent);
const kinds = new Map([...data.kinds.map((kind) => [kind.name, kind]), ["sampled", data.sampled]]);
const executions = data.executions.map((raw) => new Execution(raw));
