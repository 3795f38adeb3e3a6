/** The number of accounts in each status over time, drawn on the server as SVG, with the same numbers as a table. */
import { Duration, Effect } from "effect"
import type { AccountStatus } from "../../../domain/accounts/ProtectionStatus.ts"
import type { StatusSample } from "../../../domain/accounts/StatusHistory.ts"
import { statusSamplesKept } from "../../../domain/Limits.ts"
import { Html, html } from "../kit/index.ts"
import type { Area } from "./Drawing.ts"
import * as Statuses from "./Statuses.ts"

/** The statuses from the bottom of the chart upwards: what is well carries what is not. */
const stacked: ReadonlyArray<AccountStatus> = Statuses.inOrder.toReversed()

/** A screen's chart and a telephone's: each is shown where it fits, so that its text stays readable. */
const sizes = [
  { name: "on-screen", width: 1040, height: 220 },
  { name: "on-telephone", width: 330, height: 220 }
]

/** The time that a chart shows at least, however little of it is known. */
const shortest = Duration.hours(1)

/** At most so many moments are drawn; of more, those that are evenly apart. */
const points = 360

/** The drawing is loaded with the first chart: most of what the program does needs none. */
const drawing = Effect.promise(() => import("./Drawing.ts"))

const counted = (status: AccountStatus, { accounts }: StatusSample): number => accounts[status] ?? 0

/** The statuses that any of the samples has. */
const seen = (samples: ReadonlyArray<StatusSample>): ReadonlyArray<AccountStatus> =>
  stacked.filter((status) => samples.some((sample) => counted(status, sample) > 0))

/** Evenly apart, the first and the last one among them. */
const thinned = (samples: ReadonlyArray<StatusSample>): ReadonlyArray<StatusSample> => {
  const step = Math.ceil(samples.length / points)
  return samples.filter((_, at) => at === 0 || (samples.length - 1 - at) % step === 0)
}

/** The areas of the statuses; the last of the samples holds until `until`. */
const areas = (
  samples: ReadonlyArray<StatusSample>,
  { from, until }: { readonly from: number; readonly until: number }
): ReadonlyArray<Area> =>
  seen(samples).map((status) => {
    const values = samples.map((sample) => [Math.max(sample.at.getTime(), from), counted(status, sample)] as const)
    const last = values.at(-1)
    return {
      name: Statuses.words[status].name,
      color: `--status-${status}`,
      values: last === undefined ? [] : [...values, [until, last[1]]]
    }
  })

const legend = (statuses: ReadonlyArray<AccountStatus>): Html.Html =>
  html`<ul class="legend">${
    statuses.toReversed().map((status) => html`<li class="of-${status}">${Statuses.words[status].name}</li>`)
  }</ul>`

/** The last sample of each day, the newest day first. */
const days = (samples: ReadonlyArray<StatusSample>): ReadonlyArray<StatusSample> =>
  [...Map.groupBy(samples, ({ at }) => at.toISOString().slice(0, 10)).values()]
    .flatMap((day) => day.slice(-1)).toReversed()

const table = (samples: ReadonlyArray<StatusSample>, statuses: ReadonlyArray<AccountStatus>): Html.Html =>
  html`<details><summary>As a table</summary>
  <div class="scrolled" tabindex="0" role="group" aria-label="Accounts by status and day">
  <table class="numbers">
    <thead><tr><th scope="col">Last change of the day</th>${
    statuses.toReversed().map((status) => html`<th scope="col">${Statuses.words[status].name}</th>`)
  }</tr></thead>
    <tbody>${
    days(samples).map((sample) =>
      html`<tr><th scope="row">${Html.momentOf(sample.at)}</th>${
        statuses.toReversed().map((status) => html`<td>${counted(status, sample)}</td>`)
      }</tr>`
    )
  }</tbody>
  </table>
  </div>
</details>`

/** The chart of what was sampled until `now`. */
export const section = Effect.fnUntraced(function*(samples: ReadonlyArray<StatusSample>, now: number) {
  const kept = now - Duration.toMillis(statusSamplesKept)
  const first = samples[0]?.at.getTime() ?? now
  const statuses = seen(samples)
  if (statuses.length === 0) {
    return html`<section aria-labelledby="chart">
  <h2 id="chart">Over time</h2>
  <p class="empty">The accounts of each status are counted every 10 minutes. The chart begins with the first count.</p>
</section>`
  }
  const span = { from: Math.max(kept, Math.min(first, now - Duration.toMillis(shortest))), until: now }
  const { draw } = yield* drawing
  const drawn = areas(thinned(samples), span)
  return html`<section aria-labelledby="chart">
  <h2 id="chart">Over time</h2>
  <p class="lead">Accounts by status since ${Html.dayOf(new Date(span.from))}. Times are in UTC.</p>
  <figure class="chart">
    ${sizes.map(({ name, ...size }) => html`<div class="${name}">${draw(drawn, { ...size, ...span })}</div>`)}
    <figcaption>${legend(statuses)}</figcaption>
  </figure>
  ${table(samples, statuses)}
</section>`
})
