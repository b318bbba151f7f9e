
// A list of any length, of which only the rows in view are in the document.

/**
 * Rows of one height hold the items in order: one each, or, where items have widths, as many as fit.
 *
 * `draw(item)` gives an item's element and `label(item)` what a screen reader says; `chosen(item)` is called when the
 * active item changes, `entered(item)` on Enter, `hovered(item)` when the pointer is over an item, and with null when it
 * is over none. `width(item)` and `ends(item)`, if given, say how wide an item is and whether the row ends behind it.
 */
class List {
  #rows = new Map();
  #starts = new Int32Array([0]);
  #asked = false;

  constructor(options) {
    Object.assign(this, options);
    this.active = -1;
    this.space = element("div", { class: "space", role: "presentation" });
    this.box = element("div", {
      class: "list", role: "listbox", tabindex: "0", id: this.id, "aria-label": this.name,
    }, this.space);
    this.box.addEventListener("scroll", () => this.#ask(), { passive: true });
    this.box.addEventListener("keydown", (event) => this.#key(event));
    this.box.addEventListener("focus", () => { if (this.active < 0 && this.count) this.move(this.#starts[this.#firstRow()]); });
    this.box.addEventListener("click", (event) => {
      const item = itemAt(event.target);
      if (item !== null) this.move(item);
    });
    this.box.addEventListener("dblclick", (event) => {
      const item = itemAt(event.target);
      if (item !== null) this.entered?.(item);
    });
    this.box.addEventListener("pointerover", (event) => {
      if (event.pointerType === "mouse") this.hovered?.(itemAt(event.target));
    });
    this.box.addEventListener("pointerleave", () => this.hovered?.(null));
    new ResizeObserver(() => this.fit()).observe(this.box);
  }

  /** How many rows there are. */
  get length() {
    return this.#starts.length - 1;
  }

  /** Makes an item the active one and brings it into view; `quiet` does not report it. */
  move(item, { quiet = false, middle = false } = {}) {
    if (item < 0 || item >= this.count) return;
    if (!this.length) this.fit();
    this.#mark(false);
    this.active = item;
    this.#reveal(middle);
    this.#render();
    if (!quiet) this.chosen?.(item);
  }

  /** Draws the rows in view anew. */
  redraw() {
    for (const row of this.#rows.values()) row.remove();
    this.#rows.clear();
    this.#render();
  }

  /** After a change of size, or once it is shown: other rows where items have widths, with the same item on top. */
  fit() {
    const width = this.box.clientWidth;
    if (width && width !== this.packed) {
      const top = this.length ? this.#starts[this.#firstRow()] : 0;
      this.packed = width;
      this.#starts = this.width ? this.#pack(width) : Int32Array.from({ length: this.count + 1 }, (_, item) => item);
      this.space.style.height = `${this.length * this.height}px`;
      this.box.scrollTop = this.#rowOf(top) * this.height;
      if (this.waiting) { this.waiting = false; this.#reveal(true); }
      this.redraw();
    } else {
      this.#render();
    }
  }

  #pack(width) {
    const starts = [0];
    const room = width - this.gutter;
    let used = 0;
    for (let item = 0; item < this.count; item += 1) {
      const wide = this.width(item);
      if (used && used + wide > room) { starts.push(item); used = 0; }
      used += wide;
      if (this.ends(item) && item + 1 < this.count) { starts.push(item + 1); used = 0; }
    }
    if (this.count) starts.push(this.count);
    return Int32Array.from(starts);
  }

  #firstRow() {
    return Math.min(Math.ceil(this.box.scrollTop / this.height), Math.max(this.length - 1, 0));
  }

  #rowOf(item) {
    let low = 0;
    let high = this.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.#starts[middle] <= item) low = middle; else high = middle;
    }
    return low;
  }

  #reveal(middle) {
    if (!this.length) { this.waiting = true; return; }
    const top = this.#rowOf(this.active) * this.height;
    const high = this.box.clientHeight;
    if (middle) this.box.scrollTop = top - (high - this.height) / 2;
    else if (top < this.box.scrollTop) this.box.scrollTop = top;
    else if (top + this.height > this.box.scrollTop + high) this.box.scrollTop = top + this.height - high;
  }

  #ask() {
    if (this.#asked) return;
    this.#asked = true;
    requestAnimationFrame(() => { this.#asked = false; this.#render(); });
  }

  #render() {
    const beyond = 8;
    const first = Math.max(Math.floor(this.box.scrollTop / this.height) - beyond, 0);
    const end = Math.min(Math.ceil((this.box.scrollTop + this.box.clientHeight) / this.height) + beyond, this.length);
    for (const [row, node] of this.#rows) {
      if (row < first || row >= end) { node.remove(); this.#rows.delete(row); }
    }
    for (let row = first; row < end; row += 1) {
      if (!this.#rows.has(row)) this.#rows.set(row, this.space.appendChild(this.#row(row)));
    }
    this.#mark(true);
  }

  #row(row) {
    const [first, end] = [this.#starts[row], this.#starts[row + 1]];
    const items = [];
    for (let item = first; item < end; item += 1) {
      const node = this.draw(item);
      node.id = `${this.id}-${item}`;
      node.dataset.item = item;
      for (const [name, value] of Object.entries({
        role: "option", "aria-label": this.label(item), "aria-setsize": this.count, "aria-posinset": item + 1,
        "aria-selected": "false",
      })) node.setAttribute(name, value);
      items.push(node);
    }
    const node = this.width
      ? element("div", { class: "row", role: "presentation" }, element("span", { class: "number", "aria-hidden": "true" }, String(first)), ...items)
      : items[0];
    node.classList.add("row");
    node.style.top = `${row * this.height}px`;
    node.style.height = `${this.height}px`;
    return node;
  }

  /** Shows the active item as such, or no longer. */
  #mark(on) {
    const node = this.active < 0 ? null : this.space.querySelector(`#${this.id}-${this.active}`);
    node?.classList.toggle("active", on);
    node?.setAttribute("aria-selected", String(on));
    if (on && node) this.box.setAttribute("aria-activedescendant", node.id);
    else this.box.removeAttribute("aria-activedescendant");
  }

  #key(event) {
    if (event.altKey || event.metaKey) return;
    const page = Math.max(Math.floor(this.box.clientHeight / this.height) - 1, 1);
    const row = this.#rowOf(Math.max(this.active, 0));
    const moves = {
      ArrowLeft: () => this.active - 1,
      ArrowRight: () => this.active + 1,
      ArrowUp: () => this.#across(row - 1),
      ArrowDown: () => this.#across(row + 1),
      PageUp: () => this.#across(Math.max(row - page, 0)),
      PageDown: () => this.#across(Math.min(row + page, this.length - 1)),
      Home: () => (event.ctrlKey || !this.width ? 0 : this.#starts[row]),
      End: () => (event.ctrlKey || !this.width ? this.count : this.#starts[row + 1]) - 1,
      Enter: () => { this.entered?.(this.active); return -1; },
    };
    const move = moves[event.key] ?? this.keys?.[event.key];
    if (!move || (event.ctrlKey && !["Home", "End"].includes(event.key))) return;
    event.preventDefault();
    this.move(move(this.active));
  }

  /** The item of another row that stands above or below the active one. */
  #across(row) {
    if (row < 0 || row >= this.length) return -1;
    if (!this.width) return row;
    let at = this.width(Math.max(this.active, 0)) / 2;
    for (let item = this.#starts[this.#rowOf(this.active)]; item < this.active; item += 1) at += this.width(item);
    let item = this.#starts[row];
    for (let end = this.width(item); end < at && item + 1 < this.#starts[row + 1]; end += this.width(item)) item += 1;
    return item;
  }
}

/** The item that a node of a list belongs to, or null. */
function itemAt(node) {
  const found = node.closest?.("[data-item]");
  return found ? Number(found.dataset.item) : null;
}

/** An element with attributes and children; children that are text stay text. */
function element(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== null) node.setAttribute(key, value);
  }
  node.append(...children.filter((child) => child !== null));
  return node;
}
