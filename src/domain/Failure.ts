/**
 * The service's failures (specification, section 7).
 *
 * Each is one class whose tag is the code on the wire, with its status and its message fixed in it: a new one is added
 * to its area's file, and nowhere else. Anything else that goes wrong is a defect and answers 500 `internal_error`.
 */
export * from "./failures/Accounts.ts"
export * from "./failures/Admins.ts"
export {
  type ErrorBody,
  errorBody,
  type Failure,
  type FailureClass,
  type FailureStatus,
  failureTypes
} from "./failures/Base.ts"
export * from "./failures/Common.ts"
export * from "./failures/Credentials.ts"
export * from "./failures/Departments.ts"
export * from "./failures/Logins.ts"
export * from "./failures/Me.ts"
export * from "./failures/Messenger.ts"
export * from "./failures/Security.ts"
