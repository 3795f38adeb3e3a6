/** The form of a failure on the wire. */
import { Schema, SchemaGetter } from "effect"
import * as Failure from "../domain/Failure.ts"

/** The way from a failure to its envelope and back, for documents and clients; one schema per class. */
export const toWire = <F extends Failure.FailureClass>(
  failure: F
): Schema.Codec<F["Type"], { readonly error: { readonly code: string; readonly message: string } }> => {
  const known = wires.get(failure)
  // The map holds for each class the schema made for it below.
  if (known !== undefined) return known as any
  const wire = Schema.Struct({
    error: Schema.Struct({
      type: Schema.Literal(Failure.failureTypes[failure.status]),
      code: Schema.Literal(failure.identifier),
      message: Schema.String,
      param: Schema.optionalKey(Schema.String)
    })
  }).annotate({ identifier: failure.identifier }).pipe(
    // The class is one of FailureClass, whose instances its constructor makes from these members.
    Schema.decodeTo(Schema.toType(failure) as any, {
      decode: SchemaGetter.transform(({ error }: any) => new (failure as any)(error, { disableChecks: true })),
      encode: SchemaGetter.transform((self: any) => Failure.errorBody(self, failure.status) as any)
    }),
    Schema.annotate({ httpApiStatus: failure.status, description: failure.identifier })
  )
  wires.set(failure, wire as any)
  return wire as any
}

const wires = new WeakMap<Failure.FailureClass, Schema.Top>()

/** A failure's members, without its code. */
export const membersOf = ({ _tag, ...members }: Failure.Failure): Readonly<Record<string, unknown>> => members

/** The failure that has these members, as it was in another process. */
export const remade = (failure: Failure.FailureClass, members: Readonly<Record<string, unknown>>): Failure.Failure =>
  // Its class is made of its members; they were checked when it was made first.
  new (failure as any)(members, { disableChecks: true })
