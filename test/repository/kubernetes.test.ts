/** The manifests for Kubernetes, as `kubectl apply -k` takes them. */
import { describe, expect, it } from "@effect/vitest"
import * as fs from "node:fs"
import * as path from "node:path"
import { parse } from "yaml"
import manifest from "../../package.json" with { type: "json" }
import * as Settings from "../../src/cli/settings/Settings.ts"
import { byComponent, podsOf, readObjects } from "./kubernetesObjects.ts"

const folder = path.join(import.meta.dirname, "../../deploy/kubernetes")
const read = (file: string) => fs.readFileSync(path.join(folder, file), "utf8")

const kustomization = parse(read("kustomization.yaml"), { strict: true, uniqueKeys: true }) as {
  readonly resources: ReadonlyArray<string>
  readonly images: ReadonlyArray<{ readonly name: string; readonly newTag: string }>
  readonly configMapGenerator: ReadonlyArray<{ readonly name: string; readonly literals: ReadonlyArray<string> }>
  readonly secretGenerator: ReadonlyArray<{ readonly name: string; readonly files: ReadonlyArray<string> }>
}

const objects = kustomization.resources.flatMap((file) => readObjects(read(file)))
const pods = podsOf(objects)

const variables = new Set(Settings.knownVariables())

describe("the manifests for Kubernetes", () => {
  it("are objects that Kubernetes takes", () => {
    const broken = read("worker.yaml").replace("containerPort: 8080", "containerPort: http")
    expect(() => readObjects(broken)).toThrow("containerPort")
    expect(objects.map(({ kind, metadata }) => `${kind} ${metadata?.name}`).toSorted()).toEqual([
      "Deployment console",
      "Deployment worker",
      "Job migrate",
      "NetworkPolicy worker",
      "PodDisruptionBudget console",
      "PodDisruptionBudget worker",
      "Service console"
    ])
  })

  it("give each process settings that there are, and secrets in files that are mounted", () => {
    const literals = kustomization.configMapGenerator.flatMap(({ literals }) => literals)
    expect(literals.map((line) => line.replace(/=.*/, "")).filter((name) => !variables.has(name))).toEqual([])
    const secrets = new Map(kustomization.secretGenerator.map(({ files, name }) => [
      name,
      files.map((file) => file.replace(/^secrets\//, ""))
    ]))
    for (const [name, { container, pod }] of pods) {
      const own = (container.env ?? []).filter((one) => one.name.startsWith("CONSOLE_"))
      expect(own.map((one) => one.name).filter((variable) => !variables.has(variable)), name).toEqual([])
      for (const { value = "" } of own.filter(({ value }) => value?.startsWith("/run/secrets/"))) {
        const [, mount = "", file] = /^(\/run\/secrets\/[a-z]+)\/([a-z-]+)$/.exec(value) ?? []
        const volume = container.volumeMounts?.find(({ mountPath }) => mountPath === mount)?.name
        const secret = pod.volumes?.find((one) => one.name === volume)?.secret?.secretName ?? ""
        expect(secrets.get(secret), `${name}: ${value}`).toContain(file)
      }
    }
    expect(read("../README.md")).toContain("deploy/kubernetes/secrets")
  })

  it("run one image as a user of its own that cannot write, and reach only what selects it", () => {
    const [{ name: image, newTag } = { name: "", newTag: "" }] = kustomization.images
    expect(newTag).toBe(manifest.version)
    for (const { container, pod } of pods.values()) {
      expect(container.image).toBe(image)
      expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000 })
      expect(pod.automountServiceAccountToken).toBe(false)
      expect(container.securityContext).toEqual({
        readOnlyRootFilesystem: true,
        allowPrivilegeEscalation: false,
        capabilities: { drop: ["ALL"] }
      })
    }
    const own = (component: string) => ({ "app.kubernetes.io/component": component })
    for (const kind of ["Deployment", "PodDisruptionBudget"] as const) {
      for (const [component, { spec }] of byComponent(objects, kind)) {
        expect(spec?.selector?.matchLabels).toEqual(own(component))
      }
    }
    expect(byComponent(objects, "Service").get("console")?.spec?.selector).toEqual(own("console"))
    expect(byComponent(objects, "NetworkPolicy").get("worker")?.spec?.podSelector?.matchLabels).toEqual(own("worker"))
  })

  it("let workers be reached by the service alone, and replace one after the other", () => {
    const worker = pods.get("worker")?.container
    const port = worker?.ports?.find(({ name }) => name === "cluster")?.containerPort
    expect(worker?.env).toContainEqual({ name: "CONSOLE_CLUSTER_ADDRESS", value: `$(POD_IP):${port}` })
    const [first] = byComponent(objects, "NetworkPolicy").get("worker")?.spec?.ingress ?? []
    expect(first).toEqual({
      from: [{
        podSelector: {
          matchExpressions: [{ key: "app.kubernetes.io/component", operator: "In", values: ["worker", "console"] }]
        }
      }],
      ports: [{ port: "cluster" }]
    })
    const { replicas, strategy } = byComponent(objects, "Deployment").get("worker")?.spec ?? {}
    expect([replicas, strategy?.rollingUpdate]).toEqual([2, { maxUnavailable: 1, maxSurge: 0 }])
    const roles = ["worker", "console"].map((name) =>
      pods.get(name)?.container.env?.find((one) => one.name === "CONSOLE_ROLES")?.value
    )
    expect(roles).toEqual(["worker", "api"])
  })
})
