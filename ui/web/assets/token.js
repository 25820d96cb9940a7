// The token: from the address, where it stands behind the #, then of this tab alone. And what else stands there.
const TOKEN_KEY = `saccade token ${location.pathname}`;

function storage(act) {
  try {
    return act(sessionStorage);
  } catch {
    return null;  // it is switched off: the address keeps the token
  }
}

// { token, start }: start has what the address asks for, as view=lod&t=2.0.
export function readAddress() {
  const parts = location.hash.slice(1).split("&").filter(Boolean);
  const wishes = parts.filter((part) => part.includes("=")).join("&");
  const given = parts.find((part) => !part.includes("="));
  if (given) {
    keepToken(given);
    const bare = wishes ? `#${wishes}` : location.pathname + location.search;
    if (keptToken() === given) history.replaceState(null, "", bare);
  }
  return { token: given ?? keptToken(), start: Object.fromEntries(new URLSearchParams(wishes)) };
}

// Of a link that was typed or pasted, or of a token.
export function tokenIn(text) {
  const typed = text.trim();
  return typed.slice(typed.indexOf("#") + 1).split("&")[0];
}

export const keptToken = () => storage((store) => store.getItem(TOKEN_KEY));
export const keepToken = (token) => storage((store) => store.setItem(TOKEN_KEY, token));
export const forgetToken = () => storage((store) => store.removeItem(TOKEN_KEY));

// True the first time in this tab.
export function isFirst(name) {
  const before = storage((store) => store.getItem(name));
  storage((store) => store.setItem(name, "1"));
  return before === null;
}
