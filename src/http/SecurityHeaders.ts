/** The headers that every answer carries for browsers, whatever answered. */
import { HttpServerResponse } from "effect/http"
import type { Site } from "../transport/Site.ts"
import * as Cors from "./Cors.ts"

/** The time that a browser keeps to https: two years. */
const strictTransport = "max-age=63072000"

/** The features of the device that a page may not use. */
const features = [
  "accelerometer",
  "camera",
  "display-capture",
  "fullscreen",
  "geolocation",
  "gyroscope",
  "magnetometer",
  "microphone",
  "midi",
  "payment",
  "publickey-credentials-create",
  "publickey-credentials-get",
  "screen-wake-lock",
  "usb"
]

/** Keeps a page from everything but the features that begin so. */
export const permitting = (beginning: string): string =>
  features.map((feature) => feature.startsWith(beginning) ? `${feature}=(self)` : `${feature}=()`).join(", ")

const nothing = features.map((feature) => `${feature}=()`).join(", ")

/**
 * Pages say what they load and run; no other window of theirs reaches them, and they use nothing of the device by
 * default.
 */
const page = (headers: Readonly<Record<string, string | undefined>>) => ({
  "cross-origin-opener-policy": "same-origin",
  "permissions-policy": headers["permissions-policy"] ?? nothing
})

/** Data loads nothing, and nothing frames it. */
const data = { "content-security-policy": "default-src 'none'; frame-ancestors 'none'" }

/** The answer with its headers; over https browsers return only over https. */
export const complete = (
  response: HttpServerResponse.HttpServerResponse,
  requestId: string,
  site: Site | undefined,
  open: boolean
): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.setHeaders(response, {
    "request-id": requestId,
    "x-content-type-options": "nosniff",
    ...("content-security-policy" in response.headers ? page(response.headers) : data),
    ...(site?.baseUrl.startsWith("https:") === true ? { "strict-transport-security": strictTransport } : {}),
    ...(open ? Cors.headers : {})
  })
