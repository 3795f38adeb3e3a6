/** What a request carries beside its input. */
import { Caller } from "../domain/Access.ts"

/** The caller with the request's `Idempotency-Key`, where it has one. */
export const withExtras = (caller: Caller["Service"], idempotencyKey: string | undefined): Caller["Service"] =>
  idempotencyKey === undefined ? caller : Caller.of({ ...caller, extras: { idempotencyKey } })
