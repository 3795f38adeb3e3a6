/** The part of the sheet that the archive's viewer needs. */
export const css = `
:root { --own: #e3ecff; --hit: #ffe58a; --hit-text: #2b2200; }
@media (prefers-color-scheme: dark) { :root { --own: #22304f; --hit: #6a5300; --hit-text: #fff3c9; } }
body:has(main.whole) { display: flex; flex-direction: column; height: 100dvh; }
body:has(main.whole) header.top > * { max-width: none; padding-inline: 1rem; }
main.whole { flex: 1; min-height: 0; width: 100%; max-width: none; margin: 0; padding: 0; }
#viewer { height: 100%; overflow: auto; }
#viewer > :is(noscript, .starting) { display: block; max-width: 40rem; margin: 2rem auto; padding: 0 1.25rem; }
@media (scripting: none) { #viewer > .starting { display: none; } }
.unlock { max-width: 28rem; margin: 2rem auto; padding: 0 1.25rem; }
.unlock .link { margin-top: .4rem; font-size: .9rem; }
.archive-app { display: grid; grid-template-columns: minmax(17rem, 23rem) minmax(0, 1fr); height: 100%; }
.archive-app > * { min-height: 0; min-width: 0; }
.side { display: flex; flex-direction: column; gap: .75rem; border-right: 1px solid var(--line); background: var(--card); padding: .75rem 0 0; overflow: hidden; }
.side > * { padding: 0 1rem; }
.side-head { display: flex; align-items: center; justify-content: space-between; }
.side-head .title { font-size: 1.2rem; font-weight: 700; margin: 0; }
.archive-app button { min-height: 2.25rem; padding: .25rem .8rem; }
.archive-app button.link { min-height: 0; padding: 0; }
.archive-app input:not([type=checkbox]), .archive-app select { min-height: 2.25rem; padding: .25rem .6rem; }
.archive-app .field { margin: 0; }
.archive-app .field > label { font-size: .85rem; }
.search-box { display: flex; flex-direction: column; min-height: 0; }
.search-box:has(.found:not([hidden])) { flex: 1; }
.search-box summary { font-size: .9rem; }
.filters { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: .5rem .75rem; padding: .25rem 0 .5rem; }
.filters > :first-child { grid-column: 1 / -1; }
.found:not([hidden]) { flex: 1; min-height: 0; overflow-y: auto; margin: .5rem -1rem 0; padding: 0 1rem; border-top: 1px solid var(--line); }
.said { padding: .5rem 0; }
.hits, .chats { list-style: none; margin: 0 -1rem; padding: 0; }
.archive-app :is(button.hit, button.chat), div.hit { display: flex; flex-direction: column; gap: .1rem; width: 100%; padding: .6rem 1rem; border: 0; border-top: 1px solid var(--line); border-radius: 0; color: var(--text); font-weight: 400; text-align: left; background: none; }
.archive-app :is(button.hit, button.chat):hover { background: var(--ground); }
.archive-app button.chat[aria-current] { background: var(--note-ground); box-shadow: inset 4px 0 0 var(--accent); }
.archive-app :is(button.hit, button.chat):focus-visible { outline-offset: -3px; }
.archive-app :is(.hit, .chat) .tone { align-self: flex-start; margin-top: .2rem; }
.hit-head { display: flex; flex-wrap: wrap; gap: 0 .75rem; justify-content: space-between; }
.snippet { margin-top: .15rem; }
mark { background: var(--hit); color: var(--hit-text); border-radius: .2rem; padding: 0 .1em; }
.chat-list:not([hidden]) { flex: 1; min-height: 0; overflow-y: auto; display: flex; flex-direction: column; gap: .6rem; }
.foot { padding: .6rem 0 1rem; display: flex; flex-direction: column; gap: .5rem; align-items: flex-start; }
.to-review { border: 1px solid var(--line); border-left: 4px solid var(--caution); border-radius: .5rem; padding: .5rem .8rem .8rem; background: var(--caution-ground); }
.to-review:not([open]) { padding-bottom: .5rem; }
.to-review .hint { margin-bottom: .4rem; }
.to-review .choice { padding: .3rem 0; }
.to-review .choices { max-height: 14rem; background: var(--card); }
.pane { display: flex; flex-direction: column; }
.welcome { margin: auto; padding: 1.5rem; text-align: center; }
.welcome dl.keys { display: inline-grid; grid-template-columns: auto auto; gap: .5rem 1rem; text-align: left; }
kbd { font: inherit; font-size: .85rem; padding: .05rem .45rem; border: 1px solid var(--field); border-radius: .3rem; background: var(--card); }
section.conversation { display: flex; flex-direction: column; flex: 1; min-height: 0; margin: 0; padding: 0; border: 0; border-radius: 0; background: none; }
.conversation > header { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: center; padding: .6rem 1rem; background: var(--card); border-bottom: 1px solid var(--line); }
.conversation > header h2 { font-size: 1.05rem; margin: 0; }
:is(.chat-facts h2, .archive-app .chat strong, .hit-head strong, .who-and-when .sender, .hit > .hint) { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2; overflow: hidden; }
.conversation > header .hint { margin: 0; }
.chat-facts { flex: 1 1 14rem; min-width: 0; }
.tools { display: flex; gap: .5rem; align-items: center; }
.tools > * { white-space: nowrap; }
.tools input[type=date] { width: auto; }
.back-to-list { display: none; }
.unread:not(:empty) { padding: .4rem 1rem; background: var(--card); border-bottom: 1px solid var(--line); }
.scroller { flex: 1; min-height: 0; overflow-y: auto; overflow-anchor: none; padding: .5rem 1rem 1rem; }
.scroller:focus-visible { outline-offset: -3px; }
.end { text-align: center; padding: .35rem 0; min-height: 1rem; }
.end .hint { margin: 0; }
ol.messages { list-style: none; margin: 0; padding: 0; display: flex; flex-direction: column; }
li.day { position: sticky; top: -.5rem; z-index: 1; text-align: center; padding: .75rem 0 .35rem; pointer-events: none; }
li.day h3 { display: inline-block; font-size: .8rem; font-weight: 600; color: var(--soft); background: var(--ground); border: 1px solid var(--line); border-radius: 1rem; padding: .1rem .8rem; }
li.message { display: flex; margin-top: .6rem; scroll-margin: 3.5rem 0 1rem; border-radius: .75rem; }
li.message.follows { margin-top: .15rem; }
li.message.album { margin-top: -1px; }
li.message:is(.album, :has(+ .album)) > .bubble { width: 32rem; }
li.message:has(+ .album) > .bubble { border-bottom-left-radius: 0; border-bottom-right-radius: 0; }
li.message.album > .bubble { border-top-color: transparent; border-top-left-radius: 0; border-top-right-radius: 0; }
li.message.outgoing { justify-content: flex-end; }
li.message.of-service { justify-content: center; }
li.message:focus-visible { outline: none; }
li.message:focus-visible > .bubble { outline: 3px solid var(--accent); outline-offset: 2px; }
.bubble { max-width: min(44rem, 85%); min-width: 0; padding: .45rem .8rem .5rem; background: var(--card); border: 1px solid var(--line); border-radius: .75rem; }
.outgoing > .bubble { background: var(--own); }
.deleted > .bubble { border-style: dashed; border-color: var(--danger); }
li.reached > .bubble { box-shadow: 0 0 0 3px var(--hit); }
.follows:not(.outgoing) > .bubble { border-top-left-radius: .25rem; }
.outgoing.follows > .bubble { border-top-right-radius: .25rem; }
.follows .who-and-when .sender { display: none; }
.outgoing .sender { color: var(--text); }
.who-and-when { display: flex; flex-wrap: wrap; gap: 0 .75rem; align-items: baseline; margin: 0; font-size: .8rem; color: var(--soft); }
.who-and-when .sender { color: var(--accent); font-size: .85rem; }
.who-and-when time { margin-left: auto; font-variant-numeric: tabular-nums; }
.archive-app .who-and-when button.edited { font-size: .8rem; }
.who-and-when .redact { opacity: 0; }
.message:hover .redact, .message:focus-within .redact { opacity: 1; }
.bubble p.text { margin: 0; white-space: pre-wrap; }
.bubble p.text + p.text { margin-top: .3rem; }
.bubble p.service { margin: 0; color: var(--soft); }
.bubble .hint { margin: 0; }
.bubble p.forward { margin: 0 0 .2rem; font-size: .85rem; color: var(--soft); }
.archive-app .bubble button.reply { display: flex; flex-direction: column; width: 100%; min-height: 0; margin: .1rem 0 .3rem; padding: .2rem .6rem; border: 0; border-left: 3px solid var(--accent); border-radius: .25rem; background: var(--ground); color: var(--text); font-weight: 400; font-size: .85rem; text-align: left; }
.outgoing > .bubble button.reply { background: var(--card); }
.bubble p.gone { margin: .3rem 0 0; font-size: .85rem; color: var(--soft); }
.bubble .more { margin-top: .3rem; font-size: .95rem; }
.bubble .more ul { margin: .1rem 0 0; padding-left: 1.2rem; }
ul.files { list-style: none; margin: .2rem 0; padding: 0; display: grid; gap: .4rem; }
li.file { display: flex; flex-wrap: wrap; gap: .1rem .75rem; align-items: center; padding: .4rem .6rem; border: 1px solid var(--line); border-radius: .5rem; background: var(--ground); }
li.file .hint { margin: 0; }
li.file :is(img, video) { display: block; max-width: 100%; max-height: 24rem; border-radius: .4rem; }
li.file audio { display: block; width: 100%; min-width: 13rem; }
li.file .preview:empty { display: none; }
li.file .preview .problem { margin: .2rem 0; }
li.file .preview progress { margin-bottom: .2rem; }
li.file .preview:not(:empty) { flex-basis: 100%; min-width: 0; }
li.file .file-actions { display: flex; flex-wrap: wrap; gap: .4rem; align-items: center; margin-left: auto; }
li.file .file-actions button { min-height: 1.9rem; padding: .1rem .7rem; font-size: .9rem; }
.wait-notice { margin: 0; }
.wait-notice:not(:empty) { position: fixed; z-index: 2; left: 50%; bottom: 1rem; transform: translateX(-50%); width: max-content; max-width: calc(100% - 2rem); padding: .5rem 1rem; border: 1px solid var(--line); border-left: 4px solid var(--caution); border-radius: .5rem; background: var(--card); }
.side-by-side { list-style: none; display: grid; grid-template-columns: repeat(auto-fit, minmax(13rem, 1fr)); gap: .5rem; margin: .5rem 0 .1rem; padding: 0; }
.side-by-side li { padding: .4rem .6rem; border: 1px solid var(--line); border-radius: .5rem; background: var(--ground); }
.side-by-side .hint { font-size: .8rem; }
ins { background: var(--good-ground); color: var(--good); text-decoration: underline; text-underline-offset: .15em; }
del { background: var(--danger-ground); color: var(--danger); }
@media (max-width: 45rem) {
  body:has(main.whole) header.top nav ul { flex-wrap: nowrap; overflow-x: auto; white-space: nowrap; }
  body:has(main.whole) header.top .who { display: none; }
  .archive-app { grid-template-columns: minmax(0, 1fr); }
  .archive-app:not(.in-chat) > .pane, .archive-app.in-chat > .side { display: none; }
  .archive-app .back-to-list { display: inline-block; }
  .side { border-right: 0; }
  .bubble { max-width: 94%; }
  .scroller { padding: .5rem .6rem 1rem; }
  .conversation > header { padding: .5rem .6rem; gap: .5rem; }
  .conversation > header .hint { font-size: .8rem; }
  .chat-facts { flex-basis: 8rem; }
  .tools { display: contents; }
  .archive-app .tools input { flex: 1 1 8rem; }
}
`
