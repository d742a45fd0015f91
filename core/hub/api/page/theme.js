// theme - colours and language that the user chose, before the first paint. No module: it runs before the page is shown.
{
  const root = document.documentElement;
  let theme = "", language = "";
  try {
    theme = localStorage.getItem("gillnet-theme") ?? "";
    language = localStorage.getItem("gillnet-language") ?? "";
  } catch { /* refused */ }
  if (["light", "dark"].includes(theme)) root.dataset.theme = theme;
  const known = ["en", "de", "fr", "es", "ja"];
  root.lang = [language, ...navigator.languages.map((l) => l.slice(0, 2))].find((l) => known.includes(l)) ?? "en";
}
