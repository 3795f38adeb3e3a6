/**
 * The service's failures (specification, section 7).
 *
 * Each is one class whose tag is the code on the wire, with its status and its message fixed in it: a new one is added
 * to its area's file, and nowhere else. Anything else that goes wrong is a defect and answers 500 `internal_error`.
 */
export * from "./accounts/AccountFailures.ts"
export * from "./archive/ArchiveFailures.ts"
export * from "./CommonFailures.ts"
export * from "./credentials/CredentialFailures.ts"
export {
  type ErrorBody,
  errorBody,
  type Failure,
  type FailureClass,
  type FailureStatus,
  failureTypes
} from "./FailureBase.ts"
export * from "./logins/LoginFailures.ts"
export * from "./messenger/MessengerFailures.ts"
export * from "./people/AdminFailures.ts"
export * from "./people/DepartmentFailures.ts"
export * from "./people/MailPreferencesFailures.ts"
export * from "./security/SecurityFailures.ts"
