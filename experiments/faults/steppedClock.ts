/**
 * Loaded before the service: each SIGUSR2 steps the wall clock of its process, an hour forth, an hour back, and home.
 */
const hour = 3_600_000
const offsets = [hour, -hour, 0]
const Real = Date

let offset = 0
let turn = 0

process.on("SIGUSR2", () => {
  offset = offsets[turn++ % offsets.length] ?? 0
  console.error(`The wall clock says ${new Date().toISOString()}`)
})

globalThis.Date = new Proxy(Real, {
  construct: (target, args, self) => Reflect.construct(target, args.length === 0 ? [Real.now() + offset] : args, self),
  apply: () => new Real(Real.now() + offset).toString(),
  get: (target, name, self) => name === "now" ? () => Real.now() + offset : Reflect.get(target, name, self)
})
