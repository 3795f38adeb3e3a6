/** The writing of the service's log, and its lowest level: on standard error, a line for each event. */
import { Formatter, Layer, Logger, References } from "effect"
import { demoEvent } from "../../layers/messenger/simulated/DemoEvent.ts"

export const formats = ["pretty", "json", "logfmt"] as const
export const levels = ["debug", "info", "warn", "error", "none"] as const

export interface LogSettings {
  readonly logFormat: (typeof formats)[number]
  readonly logLevel: (typeof levels)[number]
}

/** One object with the fields of the event besides its time, level and message. */
const anyJson = Logger.map(
  Logger.formatStructured,
  ({ annotations, cause, level, message, timestamp }) =>
    Formatter.formatJson({ timestamp, level, message, ...annotations, ...(cause === undefined ? {} : { cause }) })
)

/** True if JSON.stringify writes the value as the formatter does. */
const isPlain = (value: unknown): boolean =>
  value === null || typeof value === "string" || typeof value === "number" || typeof value === "boolean"

/** The same line, at a fraction of its cost where the event is a sentence with plain fields, as each request's is. */
const flatJson = Logger.make((event: Logger.Options<unknown>): string => {
  const { cause, date, fiber, logLevel, message } = event
  const sentence: unknown = Array.isArray(message) && message.length === 1 ? message[0] : message
  const annotations = fiber.getRef(References.CurrentLogAnnotations)
  return typeof sentence === "string" && cause.reasons.length === 0 && Object.values(annotations).every(isPlain)
    ? JSON.stringify({
      timestamp: date.toISOString(),
      level: logLevel.toUpperCase(),
      message: sentence,
      ...annotations
    })
    : anyJson.log(event)
})

const dim = "\u001b[2m"
const bold = "\u001b[1;33m"
const colours: Readonly<Record<string, string>> = { WARN: "\u001b[33m", ERROR: "\u001b[31m" }
const plain = "\u001b[0m"

const painted = (colour: string, text: string): string => process.stderr.isTTY ? `${colour}${text}${plain}` : text

/** The fields of a request that say what it was; those that are null, and its own ids, are in the other formats. */
const requestFields = ["method", "route", "status", "code", "operation", "organization_id", "client_ip"]

const requestLine = (fields: Readonly<Record<string, unknown>>): string =>
  [
    ...requestFields.map((name) => fields[name]).filter((value) =>
      typeof value === "string" || typeof value === "number"
    ),
    `${Math.round(Number(fields["duration_ms"]))} ms`,
    painted(dim, String(fields["request_id"]))
  ].join(" ")

/** For people: one line for each event, and a mark at what a demo shows in place of a phone. */
const pretty = Logger.map(
  Logger.formatStructured,
  ({ annotations: { [demoEvent]: demo, ...fields }, cause, level, message, timestamp }) => {
    const text = [message].flat().map((part) => typeof part === "string" ? part : Formatter.formatJson(part)).join(" ")
    const more = Object.entries(fields).map(([name, value]) => ` ${name}=${Formatter.formatJson(value)}`).join("")
    const line = "duration_ms" in fields ? requestLine(fields) : `${text}${more}`
    const head = `${painted(dim, timestamp.slice(11, 19))} ${painted(colours[level] ?? "", level.padEnd(5))}`
    return `${head} ${demo === undefined ? line : painted(bold, `>>> ${line}`)}${
      cause === undefined ? "" : `\n${cause}`
    }`
  }
)

let pending = ""

const flush = () => {
  const text = pending
  pending = ""
  if (text !== "") process.stderr.write(text)
}

/**
 * Writes the lines of one turn of the event loop at once, because a write for each would dominate the cost of logging.
 */
const inLines = (format: Logger.Logger<unknown, string>) =>
  Logger.map(format, (line) => {
    if (pending === "") setImmediate(flush)
    pending += `${line}\n`
  })

process.once("exit", flush)

const loggers = {
  pretty: inLines(pretty),
  json: inLines(flatJson),
  logfmt: inLines(Logger.formatLogFmt)
}

const severities = { debug: "Debug", info: "Info", warn: "Warn", error: "Error", none: "None" } as const

/** The level below which nothing is logged. */
export const layerLevel = ({ logLevel }: Pick<LogSettings, "logLevel">) =>
  Layer.succeed(References.MinimumLogLevel, severities[logLevel])

/** The log, by the settings. */
export const layer = (settings: LogSettings) =>
  Layer.mergeAll(
    Logger.layer([loggers[settings.logFormat]]),
    Layer.succeed(Logger.LogToStderr, true),
    layerLevel(settings)
  )
