"use strict";
(() => {
  const table = document.getElementById("list");
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const controls = document.getElementById("filters");
  const [from, to, words, count, clear] = ["from", "to", "words", "count", "clear"].map((id) => document.getElementById(id));
  const selects = [...controls.querySelectorAll("select")];
  const facts = new Map(rows.map((row) => [row, {
    keys: row.dataset.keys.split(",").map((each) => each.split(" ")),
    rate: row.dataset.rate === "" ? -Infinity : Number(row.dataset.rate),
    text: `${row.textContent} ${row.dataset.words ?? ""}`.toLowerCase(),
  }]));

  const limit = (input, otherwise) => (input.value === "" || Number.isNaN(input.valueAsNumber) ? otherwise : input.valueAsNumber);

  const fits = (row) => {
    const { keys, rate, text } = facts.get(row);
    return rate >= limit(from, -Infinity) && rate <= limit(to, Infinity)
      && words.value.toLowerCase().split(/\s+/).every((word) => text.includes(word))
      && selects.every((select) => select.value === "" || keys[Number(select.dataset.key)].includes(select.value));
  };

  const remember = () => {
    const set = new URLSearchParams();
    selects.forEach((select) => select.value && set.set(select.dataset.key, select.value));
    [from, to, words].forEach((input) => input.value && set.set(input.id, input.value));
    const hash = set.toString();
    try {
      history.replaceState(null, "", hash ? `#${hash}` : location.pathname);
    } catch {
      // Some browsers let no file change its address: then it is not remembered.
    }
  };

  const filter = () => {
    let shown = 0;
    for (const row of rows) {
      row.hidden = !fits(row);
      shown += row.hidden ? 0 : 1;
    }
    count.textContent = `${shown} of ${rows.length} episodes`;
  };

  const value = (row, column, numbers) => {
    const cell = row.cells[column];
    if (!numbers) return cell.textContent;
    return Number.parseFloat(cell.dataset.v ?? cell.textContent) || 0;
  };

  const sort = (head, column) => {
    const down = head.getAttribute("aria-sort") === "ascending";
    const numbers = "numbers" in head.dataset;
    const order = (a, b) => {
      const [x, y] = [value(a, column, numbers), value(b, column, numbers)];
      return numbers ? x - y : x.localeCompare(y, undefined, { numeric: true });
    };
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    rows.sort((a, b) => (down ? order(b, a) : order(a, b)));
    body.append(...rows);
  };

  [...table.tHead.rows[0].cells].forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    button.addEventListener("click", () => sort(head, column));
    head.append(button);
  });

  for (const [key, given] of new URLSearchParams(location.hash.slice(1))) {
    const control = selects.find((select) => select.dataset.key === key) ?? [from, to, words].find((input) => input.id === key);
    if (control) control.value = given;
  }
  controls.addEventListener("input", () => { filter(); remember(); });
  clear.addEventListener("click", () => {
    [...selects, from, to, words].forEach((control) => { control.value = ""; });
    filter();
    remember();
  });
  controls.hidden = false;
  filter();
})();
