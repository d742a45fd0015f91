// address - the shown view and its query, in the address's hash: #messages?q=from:x.

export function here() {
  const [name, query] = location.hash.slice(1).split(/\?(.*)/s);
  return { name, query: new URLSearchParams(query ?? "") };
}
export function linkTo(name, params = {}) {
  const query = new URLSearchParams(Object.entries(params).filter(([, v]) => v !== "" && v !== null && v !== undefined)).toString();
  return query ? `#${name}?${query}` : `#${name}`;
}
export function go(name, params) {
  location.hash = linkTo(name, params);
}
// Changes the query of the shown view without a new entry in the history of the tab.
export function setQuery(params) {
  history.replaceState(null, "", linkTo(here().name, params));
  dispatchEvent(new Event("hashchange"));
}
// Asks the reads of the shown view again, now.
export const refresh = () => dispatchEvent(new Event("gillnet-refresh"));
