/** The manifests for Kubernetes, as `kubectl apply -k` takes them. */
import { describe, expect, it } from "@effect/vitest"
import { Deployment } from "kubernetes-models/apps/v1"
import { Job } from "kubernetes-models/batch/v1"
import { NetworkPolicy } from "kubernetes-models/networking.k8s.io/v1"
import { PodDisruptionBudget } from "kubernetes-models/policy/v1"
import { Service } from "kubernetes-models/v1"
import * as fs from "node:fs"
import * as path from "node:path"
import { parse, parseAllDocuments } from "yaml"
import manifest from "../../package.json" with { type: "json" }
import * as Settings from "../../src/cli/settings/Settings.ts"

const folder = path.join(import.meta.dirname, "../../deploy/kubernetes")
const read = (file: string) => fs.readFileSync(path.join(folder, file), "utf8")

const kustomization = parse(read("kustomization.yaml"), { strict: true, uniqueKeys: true }) as {
  readonly resources: ReadonlyArray<string>
  readonly images: ReadonlyArray<{ readonly name: string; readonly newTag: string }>
  readonly configMapGenerator: ReadonlyArray<{ readonly name: string; readonly literals: ReadonlyArray<string> }>
  readonly secretGenerator: ReadonlyArray<{ readonly name: string; readonly files: ReadonlyArray<string> }>
}

const models: Readonly<Record<string, new(data: any) => { readonly validate: () => void }>> = {
  "apps/v1 Deployment": Deployment,
  "batch/v1 Job": Job,
  "networking.k8s.io/v1 NetworkPolicy": NetworkPolicy,
  "policy/v1 PodDisruptionBudget": PodDisruptionBudget,
  "v1 Service": Service
}

interface Container {
  readonly image: string
  readonly args: ReadonlyArray<string>
  readonly env: ReadonlyArray<{ readonly name: string; readonly value?: string }>
  readonly ports?: ReadonlyArray<{ readonly name: string; readonly containerPort: number }>
  readonly volumeMounts: ReadonlyArray<{ readonly name: string; readonly mountPath: string }>
  readonly securityContext: object
}

const objects: ReadonlyArray<any> = kustomization.resources.flatMap((file) =>
  parseAllDocuments(read(file), { strict: true, uniqueKeys: true }).map((document) => {
    expect(document.errors).toEqual([])
    return document.toJS()
  })
)

const named = (kind: string, name: string) =>
  objects.find((object) => object.kind === kind && object.metadata.name === name)
const pods: ReadonlyArray<{ readonly name: string; readonly pod: any; readonly container: Container }> = objects
  .filter(({ kind }) => kind === "Deployment" || kind === "Job")
  .map((object) => ({
    name: object.metadata.name,
    pod: object.spec.template.spec,
    container: object.spec.template.spec.containers[0]
  }))

const variables = new Set(Settings.knownVariables())

describe("the manifests for Kubernetes", () => {
  it("are objects that Kubernetes takes", () => {
    for (const object of objects) {
      const Model = models[`${object.apiVersion} ${object.kind}`]
      expect(Model, object.kind).toBeDefined()
      if (Model !== undefined) expect(() => new Model(object).validate(), object.metadata.name).not.toThrow()
    }
    const broken = structuredClone(named("Deployment", "worker"))
    broken.spec.template.spec.containers[0].ports[0].containerPort = "http"
    expect(() => new Deployment(broken).validate()).toThrow()
    expect(objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`).toSorted()).toEqual([
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
    for (const { container, name, pod } of pods) {
      const own = container.env.filter((one) => one.name.startsWith("CONSOLE_"))
      expect(own.map((one) => one.name).filter((variable) => !variables.has(variable)), name).toEqual([])
      for (const { value = "" } of own.filter(({ value }) => value?.startsWith("/run/secrets/"))) {
        const [, mount = "", file] = /^(\/run\/secrets\/[a-z]+)\/([a-z-]+)$/.exec(value) ?? []
        const volume = container.volumeMounts.find(({ mountPath }) => mountPath === mount)?.name
        const secret = pod.volumes.find((one: any) => one.name === volume)?.secret.secretName
        expect(secrets.get(secret), `${name}: ${value}`).toContain(file)
      }
    }
    expect(read("../README.md")).toContain("deploy/kubernetes/secrets")
  })

  it("run one image as a user of its own that cannot write, and reach only what selects it", () => {
    const [{ name: image, newTag } = { name: "", newTag: "" }] = kustomization.images
    expect(newTag).toBe(manifest.version)
    for (const { container, pod } of pods) {
      expect(container.image).toBe(image)
      expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000 })
      expect(pod.automountServiceAccountToken).toBe(false)
      expect(container.securityContext).toEqual({
        readOnlyRootFilesystem: true,
        allowPrivilegeEscalation: false,
        capabilities: { drop: ["ALL"] }
      })
    }
    for (const object of objects.filter(({ kind }) => kind !== "Job")) {
      const { podSelector, selector } = object.spec
      const labels = podSelector?.matchLabels ?? selector.matchLabels ?? selector
      expect(labels).toEqual({ "app.kubernetes.io/component": object.metadata.name })
    }
  })

  it("let workers be reached by the service alone, and replace one after the other", () => {
    const worker = pods.find(({ name }) => name === "worker")?.container
    const port = worker?.ports?.find(({ name }) => name === "cluster")?.containerPort
    expect(worker?.env).toContainEqual({ name: "CONSOLE_CLUSTER_ADDRESS", value: `$(POD_IP):${port}` })
    const [first] = named("NetworkPolicy", "worker").spec.ingress
    expect(first).toEqual({
      from: [{
        podSelector: {
          matchExpressions: [{ key: "app.kubernetes.io/component", operator: "In", values: ["worker", "console"] }]
        }
      }],
      ports: [{ port: "cluster" }]
    })
    const { replicas, strategy } = named("Deployment", "worker").spec
    expect([replicas, strategy.rollingUpdate]).toEqual([2, { maxUnavailable: 1, maxSurge: 0 }])
    const roles = ["worker", "console"].map((name) =>
      pods.find((one) => one.name === name)?.container.env.find((one) => one.name === "CONSOLE_ROLES")?.value
    )
    expect(roles).toEqual(["worker", "api"])
  })
})
