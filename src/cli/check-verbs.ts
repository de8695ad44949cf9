// The verbs that judge files and this machine, read together when one of them is called for.

export { agentsCheck } from "./agents.ts";
export { doctor } from "./doctor.ts";
export { handoffCheck } from "./handoff.ts";
export { installPolicies } from "./install-policies.ts";
export { validate } from "./validate.ts";
