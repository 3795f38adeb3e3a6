/** Draws areas over time as SVG, each moment with its numbers where a pointer rests on it. */
import { scaleLinear, scaleUtc } from "d3-scale"
import { area, curveStepAfter, stack } from "d3-shape"
import { Html, html } from "../kit/index.ts"

/** One area of the stack, from the bottom upwards. */
export interface Area {
  readonly name: string
  /** A custom property of the sheet, such as `--status-paused`. */
  readonly color: string
  /** From each moment on, until the next one; all areas have the same moments. */
  readonly values: ReadonlyArray<readonly [at: number, value: number]>
}

export interface DrawnChart {
  readonly width: number
  readonly height: number
  readonly from: number
  readonly until: number
}

/** Room for the numbers at the left and the times below, in pixels of the drawing. */
const margin = { top: 10, right: 12, bottom: 25, left: 8 }
const digitWidth = 7

/** The least width, in pixels, of a time whose numbers a pointer finds. */
const narrowest = 4

const px = (value: number): string => String(Math.round(value * 10) / 10)

const isMidnight = (date: Date): boolean => date.getTime() % 86_400_000 === 0

/** The numbers of a moment, as a line of text. */
const numbers = (areas: ReadonlyArray<Area>, index: number): string =>
  areas.toReversed().flatMap(({ name, values }) => {
    const value = values[index]?.[1] ?? 0
    return value === 0 ? [] : [`${name} ${value}`]
  }).join(", ")

/** The areas on top of each other, coloured by names that the page's sheet gives a value, in light and in dark. */
export const draw = (areas: ReadonlyArray<Area>, { from, height, until, width }: DrawnChart): Html.Html => {
  const moments = areas[0]?.values.map(([at]) => at) ?? []
  const series = stack<number, number>()
    .keys(areas.keys())
    .value((index, key) => areas[key]?.values[index]?.[1] ?? 0)(moments.keys())
  const most = Math.max(1, ...(series.at(-1) ?? []).map(([, top]) => top))
  const bottom = height - margin.bottom
  const y = scaleLinear([0, most], [bottom, margin.top]).nice(4)
  const counts = y.ticks(4).filter(Number.isInteger)
  const left = margin.left + digitWidth * Math.max(...counts.map((count) => String(count).length)) + 6
  const right = width - margin.right
  const x = scaleUtc([from, until], [left, right])
  const times = x.ticks(width > 600 ? 8 : 4)
  const day = x.tickFormat(times.length, "%-d %b")
  const clock = x.tickFormat(times.length, "%H:%M")
  const shape = area<readonly [bottom: number, top: number]>()
    .x((_, index) => x(moments[index] ?? from))
    .y0(([low]) => y(low))
    .y1(([, high]) => y(high))
    .curve(curveStepAfter)
    .digits(1)
  const texts = moments.map((_, index) => numbers(areas, index))
  const changes = moments.slice(0, -1).flatMap((at, index) => texts[index] === texts[index - 1] ? [] : [{ at, index }])
  const shown = changes.filter(({ at }, index) => x(changes[index + 1]?.at ?? until) - x(at) >= narrowest)
  return html`<svg aria-hidden="true" focusable="false" viewBox="0 0 ${width} ${height}">
${
    counts.map((count) =>
      html`<path d="M${left} ${px(y(count))}H${right}" stroke="var(--line)"></path><text x="${left - 6}" y="${
        px(y(count) + 4)
      }" text-anchor="end" fill="var(--soft)">${count}</text>`
    )
  }
${
    series.map((one, index) =>
      html`<path d="${shape(one.map(([low, high]) => [low, high] as const)) ?? ""}" fill="var(${
        areas[index]?.color ?? ""
      })" stroke="var(--card)"></path>`
    )
  }
<path d="M${left} ${px(bottom)}H${right}" stroke="var(--field)"></path>
${
    times.map((time) =>
      html`<path d="M${px(x(time))} ${px(bottom)}v5" stroke="var(--field)"></path><text x="${px(x(time))}" y="${
        height - 5
      }" text-anchor="${x(time) > right - margin.right ? "end" : "middle"}" fill="var(--soft)">${
        isMidnight(time) ? day(time) : clock(time)
      }</text>`
    )
  }
${
    shown.map(({ at, index }, position) =>
      html`<rect x="${px(x(at))}" y="${margin.top}" width="${
        px(x(shown[position + 1]?.at ?? until) - x(at))
      }" height="${px(bottom - margin.top)}" fill="transparent"><title>${Html.plainMoment(new Date(at))}: ${
        texts[index]
      }</title></rect>`
    )
  }
</svg>`
}
