// The verbs that judge files and this machine, read together when one of them is called for.

export { agentsCheck } from "./check/agents.ts";
export { doctor } from "./check/doctor.ts";
export { handoffCheck } from "./check/handoff.ts";
export { installPolicies } from "./check/install-policies.ts";
export { validate } from "./check/validate.ts";
