/** The part of the sheet that lists and the pages of accounts and the journal need. */
export const css = `
:root { --status-hijack_blocked: #b3261e; --status-new_sign_in: #d98a00; --status-protection_stopped: #7a1f5c; --status-status_unknown: #b9a04a; --status-recently_connected: #4a7bea; --status-protected: #3f9a5c; --status-paused: #9aa3b2; --status-available: #ccd2db; }
@media (prefers-color-scheme: dark) { :root { --status-hijack_blocked: #f0776c; --status-new_sign_in: #e0a33a; --status-protection_stopped: #c77fb0; --status-status_unknown: #a08c45; --status-recently_connected: #6f97f5; --status-protected: #4fa56c; --status-paused: #727c8f; --status-available: #444c5b; } }
input[type=date] { width: 100%; min-height: 2.75rem; padding: .5rem .75rem; font: inherit; color: inherit; background: var(--card); border: 1px solid var(--field); border-radius: .5rem; }
textarea { display: block; width: 100%; min-height: 6rem; padding: .5rem .75rem; font: inherit; color: inherit; background: var(--card); border: 1px solid var(--field); border-radius: .5rem; resize: vertical; }
textarea[aria-invalid=true] { border-color: var(--danger); border-width: 2px; }
.written { white-space: pre-wrap; }
.tone { display: inline-flex; gap: .4rem; align-items: baseline; font-size: .85rem; font-weight: 650; padding: .1rem .6rem; border-radius: 1rem; white-space: nowrap; }
.tone::before { content: "●" / ""; font-size: .65rem; position: relative; top: -.08em; }
.tone.is-good { color: var(--good); background: var(--good-ground); }
.tone.is-caution { color: var(--caution); background: var(--caution-ground); }
.tone.is-danger { color: var(--danger); background: var(--danger-ground); }
.tone.is-note { color: var(--accent); background: var(--note-ground); }
.tone.is-off { color: var(--soft); background: var(--ground); }
.tone.is-caution::before { content: "▲" / ""; }
.tone.is-danger::before { content: "◆" / ""; }
.tone.is-off::before { content: "○" / ""; }
ul.tiles { list-style: none; display: grid; grid-template-columns: repeat(auto-fill, minmax(9.5rem, 1fr)); gap: .75rem; margin: 1.25rem 0; padding: 0; }
ul.tiles a { display: block; height: 100%; padding: .8rem 1rem; background: var(--card); border: 1px solid var(--line); border-top: 4px solid var(--field); border-radius: .5rem; color: var(--text); text-decoration: none; }
ul.tiles a:hover { border-color: var(--accent); }
ul.tiles strong { display: block; font-size: 1.7rem; line-height: 1.2; font-weight: 650; font-variant-numeric: tabular-nums; }
ul.tiles .tone { padding: 0; background: none; white-space: normal; }
ul.tiles a > span:not(.tone) { color: var(--soft); font-size: .9rem; }
ul.tiles a.is-good { border-top-color: var(--good); }
ul.tiles a.is-caution { border-top-color: var(--caution); }
ul.tiles a.is-danger { border-top-color: var(--danger); }
ul.tiles a.is-note { border-top-color: var(--accent); }
ul.tiles a[aria-current] { outline: 2px solid var(--accent); outline-offset: -1px; }
.warning { border-radius: .5rem; padding: .9rem 1.1rem; margin: 0 0 1.25rem; background: var(--caution-ground); border-left: 4px solid var(--caution); }
.warning p:last-child { margin-bottom: 0; }
.warning h2, .problem h2 { font-size: 1rem; }
.warning ul { margin: .25rem 0 0; padding-left: 1.1rem; }
section.urgent { border-left: 4px solid var(--caution); }
section.quiet { background: none; }
form.filters { display: flex; flex-wrap: wrap; gap: .75rem; align-items: end; margin: .75rem 0; }
form.filters > div { flex: 1 1 11rem; min-width: 0; }
form.filters label { display: block; font-weight: 600; font-size: .9rem; margin-bottom: .15rem; }
table.listing { width: 100%; border-collapse: collapse; margin-top: .5rem; }
table.listing th, table.listing td { text-align: left; vertical-align: top; padding: .7rem .75rem .7rem 0; border-top: 1px solid var(--line); }
table.listing thead th { border-top: 0; padding-bottom: .35rem; color: var(--soft); font-size: .85rem; font-weight: 600; }
table.listing tbody th { font-weight: 600; }
table.listing tbody tr:hover { background: var(--ground); }
table.listing th .hint { display: block; font-weight: 400; }
.number { font-variant-numeric: tabular-nums; white-space: nowrap; }
figure.chart { margin: .5rem 0 .75rem; }
.chart svg { display: block; width: 100%; height: auto; }
.chart rect:hover { fill: var(--soft); fill-opacity: .15; }
.chart .on-telephone { display: none; }
.chart text { font: 12px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
ul.legend { list-style: none; display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; margin: .6rem 0 0; padding: 0; font-size: .9rem; }
ul.legend li { display: flex; gap: .45rem; align-items: center; }
ul.legend li::before { content: ""; width: .9rem; height: .9rem; border-radius: .2rem; }
ul.legend li.of-hijack_blocked::before { background: var(--status-hijack_blocked); }
ul.legend li.of-new_sign_in::before { background: var(--status-new_sign_in); }
ul.legend li.of-protection_stopped::before { background: var(--status-protection_stopped); }
ul.legend li.of-status_unknown::before { background: var(--status-status_unknown); }
ul.legend li.of-recently_connected::before { background: var(--status-recently_connected); }
ul.legend li.of-protected::before { background: var(--status-protected); }
ul.legend li.of-paused::before { background: var(--status-paused); }
ul.legend li.of-available::before { background: var(--status-available); }
progress { display: block; width: 100%; max-width: 28rem; height: .8rem; margin: .3rem 0 .75rem; accent-color: var(--accent); }
.scrolled { overflow-x: auto; }
table.numbers { border-collapse: collapse; font-size: .9rem; margin-top: .5rem; overflow-wrap: normal; }
table.numbers th, table.numbers td { border-top: 1px solid var(--line); padding: .4rem .9rem .4rem 0; text-align: right; font-weight: 400; font-variant-numeric: tabular-nums; }
table.numbers th:first-child { text-align: left; white-space: nowrap; }
table.numbers thead th { border-top: 0; color: var(--soft); vertical-align: bottom; }
.paging { display: flex; gap: .75rem; margin-top: 1rem; }
.status-card { border-radius: .75rem; padding: 1rem 1.25rem; margin: 1rem 0; border: 1px solid var(--line); border-left: 6px solid var(--field); background: var(--card); }
ol.matters { list-style: none; margin: 0; padding: 0; }
.status-card h2 { margin-bottom: .4rem; }
.status-card h2 .tone { font-size: 1rem; }
.status-card p:last-child { margin-bottom: 0; }
.status-card.is-good { border-left-color: var(--good); }
.status-card.is-caution { border-left-color: var(--caution); }
.status-card.is-danger { border-left-color: var(--danger); }
.status-card.is-note { border-left-color: var(--accent); }
.deeds > div + div { border-top: 1px solid var(--line); margin-top: 1rem; padding-top: 1rem; }
.deeds p { color: var(--soft); font-size: .95rem; margin: .15rem 0 .6rem; }
.deeds p.fault { color: var(--danger); }
.hint + .deeds { margin-top: .75rem; }
li > .actions { margin-top: .6rem; align-items: center; }
.actions form button { min-height: 2.25rem; padding: .3rem .9rem; }
summary { border-radius: .25rem; }
details.confirmed > summary { display: inline-block; list-style: none; padding: .3rem .9rem; border: 1px solid var(--accent); border-radius: .5rem; font-weight: 600; }
details.confirmed.grave > summary { color: var(--danger); border-color: var(--danger); }
details.confirmed > summary::-webkit-details-marker { display: none; }
details.confirmed[open] { border: 1px solid var(--line); border-left: 4px solid var(--accent); border-radius: .5rem; padding: .75rem 1rem; }
details.confirmed.grave[open] { border-left-color: var(--danger); }
details.confirmed[open] > summary { border: 0; padding: 0; }
details.confirmed fieldset { margin-bottom: .75rem; }
.actions > details[open] { flex: 1 0 100%; }
section > details.confirmed { margin-top: 1rem; }
li > details.confirmed { margin-top: .4rem; }
li > .head + p { margin: .3rem 0 0; }
li .head { align-items: baseline; }
ul.events > li { padding: .7rem 0; }
ul.events summary { font-size: .85rem; padding: .1rem 0; width: fit-content; }
ul.events dl.facts { gap: .25rem 1rem; font-size: .9rem; margin: .4rem 0; }
.gist { margin: 0; font-size: .95rem; }
main.wide .columns { display: grid; gap: 0 1.25rem; }
main.wide .columns section:first-child { margin-top: .25rem; }
@media (min-width: 56rem) { main.wide .columns { grid-template-columns: minmax(0, 5fr) minmax(0, 3fr); align-items: start; } }
@media (min-width: 56rem) { main.wide .columns.even { grid-template-columns: repeat(2, minmax(0, 1fr)); } }
main.wide > .lead { max-width: 46rem; }
pre.block { margin: .5rem 0 0; padding: .8rem 1rem; border: 1px solid var(--line); border-radius: .5rem; background: var(--ground); white-space: pre-wrap; overflow-wrap: anywhere; -webkit-user-select: all; user-select: all; }
@media (max-width: 40rem) {
  .chart .on-screen { display: none; }
  .chart .on-telephone { display: block; }
  table.listing thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  table.listing, table.listing tbody { display: block; }
  table.listing tbody tr { display: flex; flex-wrap: wrap; gap: .2rem .8rem; border-top: 1px solid var(--line); padding: .8rem 0; }
  table.listing tbody th, table.listing tbody td { display: block; border: 0; padding: 0; }
  table.listing tbody th { flex: 1 0 100%; }
  table.listing td:empty { display: none; }
  ul.tiles { grid-template-columns: 1fr 1fr; gap: .5rem; }
  form.filters > div, form.filters > button { flex-basis: 100%; }
}
`
