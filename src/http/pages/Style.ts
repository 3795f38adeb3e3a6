/** The pages' one style sheet: light and dark, from a telephone's width up, without a script. */
import { HttpServerResponse } from "effect/http"
import * as crypto from "node:crypto"

const css = `
:root {
  color-scheme: light dark;
  --ground: #f5f6f8;
  --card: #ffffff;
  --text: #171a21;
  --soft: #545c6b;
  --line: #d5d9e0;
  --field: #868e9c;
  --accent: #1f4fd8;
  --accent-text: #ffffff;
  --danger: #b3261e;
  --danger-ground: #fdecea;
  --good: #17692f;
  --good-ground: #e8f5ec;
  --note-ground: #eef2fd;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #11141a;
    --card: #1a1e27;
    --text: #eceef2;
    --soft: #a9b1c0;
    --line: #323947;
    --field: #7d8699;
    --accent: #8fb0ff;
    --accent-text: #0c1530;
    --danger: #ffb4ab;
    --danger-ground: #3b1614;
    --good: #8fdba5;
    --good-ground: #12301c;
    --note-ground: #1b2540;
  }
}
*, *::before, *::after { box-sizing: border-box; }
body {
  margin: 0;
  background: var(--ground);
  color: var(--text);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
  overflow-wrap: anywhere;
}
.skip { position: absolute; left: -100vw; }
.skip:focus { left: 1rem; top: 1rem; padding: .5rem 1rem; background: var(--card); z-index: 1; }
header.top { background: var(--card); border-bottom: 1px solid var(--line); }
header.top > div, main { max-width: 46rem; margin: 0 auto; padding: 0 1.25rem; }
header.top > div { display: flex; flex-wrap: wrap; gap: .25rem 1rem; align-items: center; padding: .75rem 1.25rem; }
header.top p { margin: 0; }
header.top .product { font-weight: 650; margin-right: auto; }
header.top .who { color: var(--soft); font-size: .9rem; max-width: 100%; }
main { padding-top: 2rem; padding-bottom: 3rem; }
main.narrow { max-width: 28rem; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .5rem; letter-spacing: -.01em; }
h2 { font-size: 1.2rem; line-height: 1.3; margin: 0 0 .25rem; }
h3 { font-size: 1rem; margin: 0; }
p { margin: 0 0 .75rem; }
a { color: var(--accent); text-underline-offset: .15em; }
.lead, .hint { color: var(--soft); }
.hint { font-size: .9rem; margin: .1rem 0 0; }
section, .card {
  background: var(--card);
  border: 1px solid var(--line);
  border-radius: .75rem;
  padding: 1.25rem;
  margin: 1.25rem 0;
}
form { margin: 0; }
fieldset { border: 0; padding: 0; margin: 0 0 1.25rem; min-width: 0; }
legend { font-weight: 600; padding: 0; margin-bottom: .35rem; }
.field { margin: 0 0 1.1rem; }
.field > label { display: block; font-weight: 600; }
.field .hint { margin-bottom: .3rem; }
input[type=text], input[type=email], input[type=password], select {
  width: 100%;
  min-height: 2.75rem;
  padding: .5rem .75rem;
  font: inherit;
  color: inherit;
  background: var(--card);
  border: 1px solid var(--field);
  border-radius: .5rem;
}
input[aria-invalid=true] { border-color: var(--danger); border-width: 2px; }
input.key { font-family: ui-monospace, "SF Mono", Menlo, Consolas, monospace; font-size: .9rem; }
.choice { display: flex; gap: .7rem; align-items: flex-start; padding: .5rem 0; }
.choice input { flex: none; width: 1.25rem; height: 1.25rem; margin: .15rem 0 0; accent-color: var(--accent); }
.choice label { flex: 1; min-width: 0; }
.choice .name { display: block; }
.choices { max-height: 22rem; overflow-y: auto; border: 1px solid var(--line); border-radius: .5rem; padding: .25rem .9rem; }
.choices .choice + .choice { border-top: 1px solid var(--line); }
button, .button {
  display: inline-block;
  min-height: 2.75rem;
  padding: .55rem 1.1rem;
  font: inherit;
  font-weight: 600;
  color: var(--accent);
  background: transparent;
  border: 1px solid var(--accent);
  border-radius: .5rem;
  text-decoration: none;
  cursor: pointer;
}
button.main, .button.main { background: var(--accent); color: var(--accent-text); }
button.danger { color: var(--danger); border-color: var(--danger); }
button.link { min-height: 0; padding: 0; border: 0; font-weight: 400; text-decoration: underline; text-underline-offset: .15em; }
section fieldset:last-child, section .field:last-child, .card > :last-child { margin-bottom: 0; }
.after { margin-top: 1rem; }
main nav a { margin-right: 1rem; }
.actions { display: flex; flex-wrap: wrap; gap: .75rem; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.problem, .good, .note { border-radius: .5rem; padding: .9rem 1.1rem; margin: 0 0 1.25rem; }
.problem { background: var(--danger-ground); border-left: 4px solid var(--danger); }
.problem h2 { font-size: 1rem; }
.problem ul { margin: .25rem 0 0; padding-left: 1.1rem; }
.problem a, .fault { color: var(--danger); }
.fault { font-weight: 600; margin: 0 0 .3rem; }
.good { background: var(--good-ground); border-left: 4px solid var(--good); }
.note { background: var(--note-ground); border-left: 4px solid var(--accent); }
.note p:last-child, .good p:last-child, .problem p:last-child { margin-bottom: 0; }
.badge { display: inline-block; font-size: .8rem; font-weight: 600; color: var(--good); }
.badge.ended { color: var(--soft); }
ul.plain { list-style: none; margin: .75rem 0 0; padding: 0; }
ul.plain > li { border-top: 1px solid var(--line); padding: 1rem 0; }
ul.plain > li:last-child { padding-bottom: .25rem; }
dl { margin: .35rem 0 .6rem; display: grid; grid-template-columns: 6rem 1fr; gap: .1rem 1rem; font-size: .9rem; }
dt { color: var(--soft); }
dd { margin: 0; }
summary { cursor: pointer; color: var(--accent); padding: .25rem 0; }
details > .confirm { padding: .5rem 0 0; }
.empty { border: 1px dashed var(--line); border-radius: .5rem; padding: 1rem 1.1rem; margin: .75rem 0 0; }
code { font-family: ui-monospace, "SF Mono", Menlo, Consolas, monospace; font-size: .9em; }
.host { font-weight: 650; }
@media (min-width: 30rem) { .actions.even > * { flex: 1; text-align: center; } }
@media (max-width: 30rem) {
  section, .card { padding: 1rem; }
}
form:has(#by-departments:checked) .by-accounts, form:has(#by-accounts:checked) .by-departments { display: none; }
`

/** Names the sheet's text, so that browsers keep it until it changes. */
const version = crypto.createHash("sha256").update(css).digest("hex").slice(0, 12)

/** Where the sheet is served, below the site's own path. */
export const path = "/console/style.css"
export const address = `${path}?v=${version}`

export const response = HttpServerResponse.setHeader(
  HttpServerResponse.text(css, { contentType: "text/css; charset=utf-8" }),
  "cache-control",
  "public, max-age=31536000, immutable"
)
