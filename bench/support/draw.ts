/** Draws a figure's chart as SVG text, the same for the same figures. */
import { scaleBand, scaleLinear } from "d3-scale"
import type { Chart } from "./figure.ts"

const width = 760
const height = 360
const plot = { left: 72, right: width - 24, top: 56, bottom: height - 64 }

const colors = ["#5470c6", "#91cc75", "#fac858", "#ee6666", "#73c0de"]

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll("\"", "&quot;")

const px = (value: number): number => Math.round(value * 10) / 10

const text = (x: number, y: number, said: string, more = ""): string =>
  `<text x="${px(x)}" y="${px(y)}" fill="#54555a" ${more}>${escaped(said)}</text>`

/** The bars of each place on the axis, those of a series in one colour, each with its value where a pointer rests on it. */
export const draw = ({ series, title, unit, x }: Chart): string => {
  const most = Math.max(...series.flatMap(({ values }) => values.map((value) => value ?? 0)))
  const places = scaleBand(x, [plot.left, plot.right]).padding(0.2)
  const bars = scaleBand(series.map(({ name }) => name), [0, places.bandwidth()]).padding(0.1)
  const y = scaleLinear([0, most], [plot.bottom, plot.top]).nice()
  const label = y.tickFormat()
  const legend = scaleBand(series.map(({ name }) => name), [plot.left, plot.right])
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" ` +
    `font-family="system-ui, sans-serif" font-size="11"><rect width="${width}" height="${height}" fill="#ffffff"/>`,
    text(width / 2, 24, title, "text-anchor=\"middle\" font-size=\"15\" font-weight=\"bold\""),
    text(plot.left, plot.top - 10, unit, "text-anchor=\"middle\""),
    ...y.ticks(6).map((tick) =>
      `<path d="M${plot.left} ${px(y(tick))}H${plot.right}" stroke="#e0e6f1"/>` +
      text(plot.left - 8, y(tick) + 4, label(tick), "text-anchor=\"end\"")
    ),
    ...series.flatMap(({ name, values }, at) =>
      x.flatMap((place, index) => {
        const value = values[index] ?? null
        if (value === null) return []
        const left = (places(place) ?? 0) + (bars(name) ?? 0)
        return `<rect x="${px(left)}" y="${px(y(value))}" width="${px(bars.bandwidth())}" ` +
          `height="${px(plot.bottom - y(value))}" fill="${colors[at % colors.length]}">` +
          `<title>${escaped(`${place}, ${name}: ${value} ${unit}`)}</title></rect>`
      })
    ),
    ...x.map((place) =>
      text((places(place) ?? 0) + places.bandwidth() / 2, plot.bottom + 18, place, "text-anchor=\"middle\"")
    ),
    ...series.map(({ name }, at) => {
      const left = legend(name) ?? 0
      return `<rect x="${px(left)}" y="${height - 24}" width="16" height="10" fill="${colors[at % colors.length]}"/>` +
        text(left + 22, height - 15, name)
    }),
    "</svg>\n"
  ].join("\n")
}
