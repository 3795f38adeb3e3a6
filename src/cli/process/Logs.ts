/** How and from which level on the service's log is written: on standard error, a line for each event. */
import { Formatter, Layer, Logger, References } from "effect"

export const formats = ["pretty", "json", "logfmt"] as const
export const levels = ["debug", "info", "warn", "error", "none"] as const

export interface LogSettings {
  readonly logFormat: (typeof formats)[number]
  readonly logLevel: (typeof levels)[number]
}

/** One object with the fields of the event beside its time, level and message. */
const anyJson = Logger.map(
  Logger.formatStructured,
  ({ annotations, cause, level, message, timestamp }) =>
    Formatter.formatJson({ timestamp, level, message, ...annotations, ...(cause === undefined ? {} : { cause }) })
)

/** Whether JSON.stringify writes the value as the formatter does. */
const isPlain = (value: unknown): boolean =>
  value === null || typeof value === "string" || typeof value === "number" || typeof value === "boolean"

/** The same, at a fraction of its cost where the event is a sentence with plain fields, as each request's is. */
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
  pretty: Logger.consolePretty(),
  json: inLines(flatJson),
  logfmt: inLines(Logger.formatLogFmt)
}

const severities = { debug: "Debug", info: "Info", warn: "Warn", error: "Error", none: "None" } as const

/** What is logged at least. */
export const layerLevel = ({ logLevel }: Pick<LogSettings, "logLevel">) =>
  Layer.succeed(References.MinimumLogLevel, severities[logLevel])

/** The log, by the settings. */
export const layer = (settings: LogSettings) =>
  Layer.mergeAll(
    Logger.layer([loggers[settings.logFormat]]),
    Layer.succeed(Logger.LogToStderr, true),
    layerLevel(settings)
  )
