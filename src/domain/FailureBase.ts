/** The parts that all failures share. */
import { Effect, Schema } from "effect"

/** The type that each status carries on the wire. */
export const failureTypes = {
  400: "invalid_request_error",
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  409: "invalid_request_error",
  416: "invalid_request_error",
  429: "rate_limit_error",
  500: "api_error",
  503: "api_error"
} as const

export type FailureStatus = keyof typeof failureTypes

/** The fields of a failure: its message, and the faulty input, if any. */
export const fields = (message: string) => ({
  message: Schema.String.pipe(Schema.withConstructorDefault(Effect.succeed(message))),
  param: Schema.optionalKey(Schema.String)
})

/** The base of a failure without further fields, by its status, its code and its message. */
export const failure =
  <Self>() =>
  <const Status extends FailureStatus, const Code extends string>(status: Status, code: Code, message: string) =>
    Object.assign(Schema.TaggedError<Self>()(code, fields(message)), { status })

export const RetryAfterSeconds = Schema.Int

/** One failure as a value: any instance of the classes. */
export interface Failure {
  readonly _tag: string
  readonly message: string
  readonly param?: string
}

/** One failure's class: its code is its identifier. */
export interface FailureClass extends Schema.Top {
  readonly identifier: string
  readonly status: FailureStatus
  readonly Type: Failure
  readonly DecodingServices: never
  readonly EncodingServices: never
}

/** The error body (specification, section 7). */
export interface ErrorBody {
  readonly error: { readonly type: string; readonly code: string; readonly message: string; readonly param?: string }
}

export const errorBody = (failure: Failure, status: FailureStatus): ErrorBody => ({
  error: {
    type: failureTypes[status],
    code: failure._tag,
    message: failure.message,
    ...(failure.param === undefined ? {} : { param: failure.param })
  }
})
