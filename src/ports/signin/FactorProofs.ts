/** The cryptography of second factors: questions to browsers and apps, and checks of their answers. */
import { Context, type Effect, type Redacted } from "effect"
import type { AdminRef } from "./ConsolePasswords.ts"
import type { FactorSubject, NewApp, PasskeyAnswer, PasskeyQuestion } from "./SecondFactors.ts"

/** The relying party of a site: its host. */
export interface Party {
  readonly id: string
  readonly origin: string
}

/** A passkey as browsers know it. */
export interface PasskeyDescriptor {
  readonly id: string
  readonly transports: ReadonlyArray<string>
}

/** A passkey as it is checked. */
export interface StoredPasskey extends PasskeyDescriptor {
  readonly publicKey: string
  readonly counter: number
}

/** A passkey that was made just now. */
export interface ProvedPasskey extends StoredPasskey {
  readonly backedUp: boolean
}

/** A use of a passkey: what it says, and when it was asked. */
export interface PasskeyUse {
  readonly counter: number
  readonly backedUp: boolean
  readonly askedAt: Date
}

/** An answer by a passkey whose ticket and user handle are right; the signature is checked with what is stored. */
export interface OpenAnswer {
  readonly id: string
  verify(stored: StoredPasskey): Effect.Effect<PasskeyUse | null>
}

/** Questions are bound to a subject: a console session, a pending sign-in, or anyone. */
export class FactorProofs extends Context.Service<FactorProofs, {
  /** The party of a site; null at an address without a name, where browsers have no passkeys. */
  partyOf(site: { readonly baseUrl: string }): Party | null
  /** Asks for one of the passkeys; without any the person chooses one. */
  ask(subject: string, party: Party, known: ReadonlyArray<PasskeyDescriptor>): Effect.Effect<PasskeyQuestion>
  /** Asks a browser to make a passkey besides the known ones. */
  askNew(
    holder: FactorSubject,
    party: Party,
    known: ReadonlyArray<PasskeyDescriptor>
  ): Effect.Effect<PasskeyQuestion>
  /** The id of the passkey in a response; null where the response is not of that form. */
  idOf(response: string): string | null
  /** Reads an answer of the admin's; null where it is another's, or its ticket is of another question or too old. */
  open(admin: AdminRef, subject: string, party: Party, answer: PasskeyAnswer, now: Date): OpenAnswer | null
  /** The passkey that was made for a question; null where it was not, or too late. */
  provePasskey(
    subject: string,
    party: Party,
    answer: PasskeyAnswer,
    now: Date
  ): Effect.Effect<ProvedPasskey | null>
  newApp(holder: Pick<FactorSubject, "email" | "subject">): Effect.Effect<NewApp>
  /** The secret of a new app by its ticket; null where this took too long. */
  readApp(subject: string, ticket: string, now: Date): Redacted.Redacted | null
  /** The time step of an app's code around now; null where the code is of none. */
  stepOf(secret: Redacted.Redacted, code: string, now: Date): Effect.Effect<number | null>
}>()("org-security-console/ports/signin/FactorProofs") {}
