// A finding of `maestro doctor`, printed as one line of text or as a JSON object.

export interface Finding {
  check: string;
  level: "ok" | "warn" | "fail";
  message: string;
  hint?: string;
}
