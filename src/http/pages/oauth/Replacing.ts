/** The connections that an application has already, which a new one may take the place of. */
import type { Replaceable } from "../../../ports/oauth/OAuthPorts.ts"
import * as Scopes from "../credentials/ScopeBoxes.ts"
import { Html, html } from "../kit/index.ts"

/** Those that are ticked beforehand: of the same registration, or of one with the same name at the same address. */
export const ticked = (connections: ReadonlyArray<Replaceable>, name: string): ReadonlyArray<string> =>
  connections.filter((one) => one.sameClient || one.name === name).map(({ id }) => id)

const row = ({ createdAt, host, id, lastUsedAt, name, scopes }: Replaceable, on: boolean): Html.Html =>
  html`
  <div class="choice">
    <input type="checkbox" id="replaces-${id}" name="replaces" value="${id}"${
    on ? " checked" : ""
  } aria-describedby="replaces-${id}-hint">
    <div>
      <label for="replaces-${id}">Disconnect ${Html.claimed(name)} at <span class="host">${host}</span></label>
      <p class="hint" id="replaces-${id}-hint">Connected on ${Html.dayOf(createdAt)}, ${
    lastUsedAt === null ? "never used" : html`last used on ${Html.momentOf(lastUsedAt)}`
  }. May: ${Scopes.names(scopes)}.</p>
    </div>
  </div>`

/** The choice of what the new connection replaces, where there is anything. */
export const field = (
  connections: ReadonlyArray<Replaceable>,
  chosen: ReadonlyArray<string>
): Html.Html | undefined => {
  const on = new Set(chosen)
  return connections.length === 0 ? undefined : html`
<section aria-label="Connections that exist">
  <fieldset id="replaces">
    <legend>This application is connected already</legend>
    <p class="hint">A new connection takes the place of those that are ticked: they end as soon as you allow this one.</p>
    ${connections.map((one) => row(one, on.has(one.id)))}
  </fieldset>
</section>`
}
