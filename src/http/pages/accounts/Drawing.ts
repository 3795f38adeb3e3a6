/** Draws areas over time as SVG text. Import it dynamically: the library below is large. */
import { LineChart } from "echarts/charts"
import { GridComponent } from "echarts/components"
import { init, use } from "echarts/core"
import { SVGRenderer } from "echarts/renderers"

use([LineChart, GridComponent, SVGRenderer])

/** One area of the stack, from the bottom upwards. */
export interface Area {
  /** A custom property of the sheet, such as `--status-paused`. */
  readonly color: string
  /** From each moment on, until the next one; all areas have the same moments. */
  readonly values: ReadonlyArray<readonly [at: number, value: number]>
}

export interface Drawn {
  readonly width: number
  readonly height: number
  readonly from: number
  readonly until: number
}

const day = "{d} {MMM}"
const minute = "{HH}:{mm}"

/**
 * The areas on top of each other, without styles and classes, which the policy of the pages forbids: colours are names
 * that the sheet gives a value, in light and in dark.
 */
export const draw = (areas: ReadonlyArray<Area>, { from, height, until, width }: Drawn): string => {
  const chart = init(null, null, { renderer: "svg", ssr: true, width, height })
  const label = { color: "var(--soft)", fontSize: 12, hideOverlap: true }
  chart.setOption({
    useUTC: true,
    animation: false,
    grid: { left: 4, right: 12, top: 10, bottom: 4, outerBoundsMode: "same" },
    xAxis: {
      type: "time",
      min: from,
      max: until,
      splitNumber: width > 600 ? 8 : 4,
      axisLine: { lineStyle: { color: "var(--field)" } },
      axisTick: { lineStyle: { color: "var(--field)" } },
      axisLabel: { ...label, formatter: { year: day, month: day, day, hour: minute, minute } }
    },
    yAxis: { type: "value", minInterval: 1, axisLabel: label, splitLine: { lineStyle: { color: "var(--line)" } } },
    series: areas.map(({ color, values }) => ({
      type: "line",
      stack: "all",
      step: "end",
      symbol: "none",
      silent: true,
      lineStyle: { width: 1, color: "var(--card)" },
      areaStyle: { color: `var(${color})`, opacity: 1 },
      data: values.map(([at, value]) => [at, value])
    }))
  })
  const svg = chart.renderToSVGString({ useViewBox: true })
  chart.dispose()
  return svg
    .replaceAll(/<style[^>]*>[\s\S]*?<\/style>/g, "")
    .replaceAll(/ (?:style|class|pointer-events)="[^"]*"/g, "")
    .replace(/^<svg width="[0-9]+" height="[0-9]+"/, "<svg aria-hidden=\"true\" focusable=\"false\"")
}
