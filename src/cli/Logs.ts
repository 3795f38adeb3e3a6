/** How and from which level on the service's log is written: on standard error, a line for each event. */
import { Formatter, Layer, Logger, References } from "effect"

export const formats = ["pretty", "json", "logfmt"] as const
export const levels = ["debug", "info", "warn", "error", "none"] as const

export interface LogSettings {
  readonly logFormat: (typeof formats)[number]
  readonly logLevel: (typeof levels)[number]
}

/** One object with the fields of the event beside its time, level and message. */
const flatJson = Logger.map(
  Logger.formatStructured,
  ({ annotations, cause, level, message, timestamp }) =>
    Formatter.formatJson({ timestamp, level, message, ...annotations, ...(cause === undefined ? {} : { cause }) })
)

const loggers = {
  pretty: Logger.consolePretty(),
  json: Logger.withConsoleError(flatJson),
  logfmt: Logger.withConsoleError(Logger.formatLogFmt)
}

const severities = { debug: "Debug", info: "Info", warn: "Warn", error: "Error", none: "None" } as const

/** The log as the settings say. */
export const layer = ({ logFormat, logLevel }: LogSettings) =>
  Layer.mergeAll(
    Logger.layer([loggers[logFormat]]),
    Layer.succeed(Logger.LogToStderr, true),
    Layer.succeed(References.MinimumLogLevel, severities[logLevel])
  )
