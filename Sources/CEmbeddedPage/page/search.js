// The search box: a place by its coordinates or its name, or events by their words.
import { byID, element, isComposed } from "./dom.js";
import { coordinates, folded } from "./place.js";
import { text } from "./texts.js";

const citiesAtOnce = 4;

/**
 * A combobox, as ARIA describes it: the arrows choose, Enter takes, Escape closes.
 * @param handlers { cities(): the greatest first, go({ lat, lon }, isCity), look(words) }
 */
export function addSearch({ cities, go, look }) {
  const [input, list] = [byID("words"), byID("finds")];
  let finds = [];
  let chosen = -1;

  const choose = (index) => {
    chosen = index;
    for (const [place, option] of [...list.children].entries()) option.ariaSelected = String(place === index);
    if (index < 0) input.removeAttribute("aria-activedescendant");
    else input.setAttribute("aria-activedescendant", list.children[index].id);
  };
  const close = () => {
    list.hidden = true;
    input.ariaExpanded = "false";
    choose(-1);
  };
  const take = ({ words, place, isCity }) => {
    close();
    if (place === undefined) return look(words);
    input.value = "";
    look("");
    go(place, isCity);
  };
  const update = () => {
    const typed = input.value.trim();
    const pair = coordinates(typed);
    const place = pair && { lat: Number(pair.lat), lon: Number(pair.lon) };
    const isPlace = place !== null && Math.abs(place.lat) <= 90 && Math.abs(place.lon) <= 180;
    const begin = folded(typed);
    const near = typed.length < 2 ? [] : cities().filter(({ name }) => folded(name).startsWith(begin)).slice(0, citiesAtOnce);
    finds = typed === "" ? [] : [
      ...(isPlace ? [{ name: text("search.place", { lat: pair.lat, lon: pair.lon }), place }] : []),
      ...near.map(({ name, lat, lon }) => ({ name, place: { lat, lon }, isCity: true })),
      ...(isPlace ? [] : [{ name: text("search.words", { words: typed }), words: typed }]),
    ];
    list.replaceChildren(...finds.map((find, index) => element(
      // The field keeps the focus until the click.
      "li", { id: `find-${index}`, role: "option", "aria-selected": "false", onmousedown: (press) => press.preventDefault(), onclick: () => take(find) },
      find.name)));
    list.hidden = finds.length === 0;
    input.ariaExpanded = String(!list.hidden);
    choose(-1);
  };
  input.addEventListener("input", () => {
    update();
    if (input.value.trim() === "") look("");
  });
  input.addEventListener("blur", close);
  // The visitor goes on to another choice.
  input.addEventListener("change", () => { if (coordinates(input.value.trim()) === null) look(input.value.trim()); });
  input.addEventListener("keydown", (press) => {
    if (isComposed(press)) return;
    if (press.key === "ArrowDown" || press.key === "ArrowUp") {
      press.preventDefault();
      if (list.hidden) update();
      if (finds.length > 0) choose((chosen + (press.key === "ArrowDown" ? 1 : chosen < 0 ? finds.length : -1 + finds.length)) % finds.length);
    } else if (press.key === "Enter") {
      press.preventDefault();
      if (list.hidden) update();
      // Nothing chosen: a place that was written in numbers, else the words.
      const find = finds[chosen] ?? finds.find(({ words, isCity }) => words !== undefined || !isCity);
      if (find === undefined) look("");
      else take(find);
    } else if (press.key === "Escape" && !list.hidden) {
      press.preventDefault();
      press.stopPropagation();
      close();
    }
  });
}
