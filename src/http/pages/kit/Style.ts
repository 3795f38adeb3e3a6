/** The pages' one style sheet: light and dark, from a telephone's width up, without a script. */
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import * as crypto from "node:crypto"
import * as StyleConsole from "./StyleConsole.ts"
import * as StyleViewer from "./StyleViewer.ts"

const base = `
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
  --caution: #7a4a00;
  --caution-ground: #fff4df;
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
    --caution: #f3c877;
    --caution-ground: #33270f;
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
header.top > *, main { max-width: 70rem; margin: 0 auto; padding: 0 1.25rem; }
header.top > div { display: flex; flex-wrap: wrap; gap: .25rem 1rem; align-items: center; padding: .75rem 1.25rem; }
header.top p { margin: 0; }
header.top nav ul { list-style: none; display: flex; flex-wrap: wrap; gap: 0 1.5rem; margin: 0; padding: 0; }
header.top nav a { display: block; padding: .45rem 0; color: var(--soft); font-weight: 600; text-decoration: none; border-bottom: 3px solid transparent; }
header.top nav a:hover { color: var(--text); }
header.top nav a[aria-current] { color: var(--accent); border-bottom-color: var(--accent); }
header.top .product { font-weight: 650; margin-right: auto; }
header.top .who { color: var(--soft); font-size: .9rem; max-width: 100%; }
main { padding-top: 2rem; padding-bottom: 3rem; }
main.narrow { max-width: 28rem; }
main.text > * { max-width: 46rem; }
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
.field > label { display: block; font-weight: 600; margin-bottom: .15rem; }
.field .hint { margin-bottom: .3rem; }
input[type=text], input[type=email], input[type=password], input[type=search], select {
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
.choice label, .choice > div { flex: 1; min-width: 0; }
.choice .name { display: block; }
.choice label .claim { display: inline; }
.choices { max-height: 22rem; overflow-y: auto; border: 1px solid var(--line); border-radius: .5rem; padding: .25rem .9rem; }
.choices .choice + .choice { border-top: 1px solid var(--line); }
.choices .part { margin: 0 -.9rem; padding: .4rem .9rem; background: var(--ground); color: var(--soft); font-size: .9rem; }
.by-accounts, .by-departments { margin: .1rem 0 .5rem 1.95rem; }
.search label { display: block; font-weight: 600; font-size: .9rem; }
.search .row { display: flex; gap: .5rem; margin: .2rem 0 .6rem; }
.search input { flex: 1; min-width: 0; }
fieldset.group { margin: .9rem 0 0; padding: .1rem 0 .1rem .9rem; border-left: 3px solid var(--line); }
fieldset.group legend { float: left; width: 100%; margin: 0; font-size: .9rem; color: var(--soft); }
fieldset.group legend + * { clear: both; }
fieldset.group.irreversible { border-left-color: var(--danger); }
fieldset.group.irreversible legend, fieldset.group.irreversible .name { color: var(--danger); }
fieldset.group.irreversible input { accent-color: var(--danger); }
.group .name { font-weight: 600; }
.group .wide { display: block; margin-top: .15rem; color: var(--text); }
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
button.danger, .button.danger { color: var(--danger); border-color: var(--danger); }
button.link { min-height: 0; padding: 0; border: 0; font-weight: 400; text-decoration: underline; text-underline-offset: .15em; }
section fieldset:last-child, section .field:last-child, section > :is(p, dl, ul):last-child, .card > :last-child { margin-bottom: 0; }
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
:is(ul, ol).plain { list-style: none; margin: .75rem 0 0; padding: 0; }
:is(ul, ol).plain > li { border-top: 1px solid var(--line); padding: 1rem 0; }
:is(ul, ol).plain > li:last-child { padding-bottom: .25rem; }
dl { margin: .35rem 0 .6rem; display: grid; grid-template-columns: 6rem 1fr; gap: .1rem 1rem; font-size: .9rem; }
dt { color: var(--soft); }
dd { margin: 0; }
summary { cursor: pointer; color: var(--accent); padding: .25rem 0; }
details > .confirm { padding: .5rem 0 0; }
.empty { border: 1px dashed var(--line); border-radius: .5rem; padding: 1rem 1.1rem; margin: .75rem 0 0; }
.head { display: flex; flex-wrap: wrap; gap: .25rem 1rem; align-items: center; justify-content: space-between; }
.head h2, .head h3 { min-width: 0; }
.back { margin: 0 0 .5rem; font-size: .9rem; }
.claim { display: inline-block; max-width: 100%; padding: .05rem .5rem; border-radius: .3rem; background: var(--ground); overflow: clip; line-height: 1.7; font-weight: 600; }
h3 .claim { line-height: 1.5; }
button .claim { background: none; padding: 0; }
.mark { display: flex; gap: .6rem; align-items: flex-start; margin: 0 0 .9rem; padding: .55rem .8rem; border-radius: .5rem; font-weight: 600; }
.mark > span { flex: none; width: 1.5rem; height: 1.5rem; border: 2px solid currentcolor; border-radius: 50%; text-align: center; line-height: 1.25rem; font-size: .95rem; }
.mark.known { color: var(--good); background: var(--good-ground); }
.mark.unknown { color: var(--caution); background: var(--caution-ground); border: 1px dashed currentcolor; }
li .mark { display: inline-flex; margin: .3rem 0; padding: .15rem .6rem; font-size: .85rem; }
li .mark > span { width: 1.2rem; height: 1.2rem; line-height: 1rem; font-size: .75rem; }
dl.facts { grid-template-columns: 8rem 1fr; gap: .75rem 1rem; font-size: 1rem; margin: 0 0 .9rem; }
details.folded { border-top: 1px solid var(--line); padding-top: .6rem; margin-top: .6rem; }
.secret { display: block; margin: .9rem 0; padding: .9rem 1rem; border: 1px solid var(--field); border-radius: .5rem; background: var(--ground); font-size: 1rem; line-height: 1.6; word-break: break-all; -webkit-user-select: all; user-select: all; cursor: copy; }
.note h2 { font-size: 1rem; }
.note ul { margin: .25rem 0 .6rem; padding-left: 1.1rem; }
.qr { width: min(14rem, 100%); margin: .5rem 0 1rem; padding: .5rem; background: #fff; border: 1px solid var(--line); border-radius: .5rem; }
.qr svg { display: block; width: 100%; height: auto; }
ol.steps { padding-left: 1.25rem; margin: 0 0 1rem; }
ol.steps > li + li { margin-top: 1rem; }
ol.steps .secret { word-break: normal; }
ol.codes { columns: 2; padding-left: 1.6rem; margin: .75rem 0 0; line-height: 1.9; }
.refresh { margin-bottom: 1rem; }
.refresh label { display: inline-flex; gap: .5rem; align-items: center; }
[hidden] { display: none !important; }
code { font-family: ui-monospace, "SF Mono", Menlo, Consolas, monospace; font-size: .9em; }
.host { font-family: ui-monospace, "SF Mono", Menlo, Consolas, monospace; font-weight: 600; }
.asking .host, li p.host { display: block; margin: 0; }
.asking .host { font-size: 1.15rem; }
.asking .host.long { font-size: .8rem; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.tabs ul { list-style: none; display: flex; flex-wrap: wrap; gap: 0 1.25rem; margin: 0 0 1.25rem; padding: 0; border-bottom: 1px solid var(--line); }
.tabs a { display: block; margin: 0; white-space: nowrap; padding: .4rem 0; text-decoration: none; border-bottom: 3px solid transparent; }
.tabs a[aria-current] { border-bottom-color: var(--accent); font-weight: 600; }
.row { display: flex; gap: .5rem; }
.row input { flex: 1; min-width: 0; }
label.name { display: block; font-weight: 600; }
.filter { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; }
.filter > div { display: flex; gap: .5rem; align-items: center; }
.filter select { width: auto; }
table:not([class]) { width: 100%; border-collapse: collapse; margin: 1rem 0 0; background: var(--card); border: 1px solid var(--line); border-radius: .75rem; }
table:not([class]) :is(th, td) { text-align: left; vertical-align: top; padding: .6rem .9rem; }
table:not([class]) tbody tr { border-top: 1px solid var(--line); }
table:not([class]) thead th { color: var(--soft); font-size: .9rem; }
.granting .by-accounts, .granting .by-departments { margin-left: 0; }
@media (max-width: 40rem) {
  table:not([class]) thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  table:not([class]), table:not([class]) :is(tbody, tr, th, td) { display: block; }
  table:not([class]) tbody tr { padding: .6rem 0; }
  table:not([class]) :is(th, td) { padding: .1rem .9rem; }
  table:not([class]) td::before { content: attr(data-label) ": "; color: var(--soft); }
}
@media (scripting: none) { .by-script { display: none; } }
@media (min-width: 30rem) { .actions.even > * { flex: 1; text-align: center; } }
@media (max-width: 30rem) {
  ol.codes { columns: 1; }
  section, .card { padding: 1rem; }
  dl.facts { grid-template-columns: 1fr; gap: 0; }
  dl.facts dd { margin-bottom: .6rem; }
  .by-accounts, .by-departments { margin-left: 0; }
}
form:has(#by-departments:checked) .by-accounts, form:has(#by-accounts:checked) .by-departments,
form:has(#by-all:checked) :is(.by-accounts, .by-departments) { display: none; }
form:has(#role-billing:checked) .granting, form:has(#role-superadmin:checked) .granting,
form:has(#role-archive:checked) .archive { display: none; }
`

const css = `${base}${StyleConsole.css}${StyleViewer.css}`

/** Names the sheet's text, so that browsers keep it until it changes. */
const version = crypto.createHash("sha256").update(css).digest("hex").slice(0, 12)

/** The path of the sheet, below the site's own. */
const path = "/console/style.css"
export const address = `${path}?v=${version}`

const response = HttpServerResponse.setHeader(
  HttpServerResponse.text(css, { contentType: "text/css; charset=utf-8" }),
  "cache-control",
  "public, max-age=31536000, immutable"
)

export const route = { method: "GET", path, serve: () => Effect.succeed(response) } as const
