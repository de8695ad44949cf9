// What `maestro doctor` found: one line for people, one object for programs.

export interface Finding {
  check: string;
  level: "ok" | "warn" | "fail";
  message: string;
  hint?: string;
}
