// Resolves paths as text, without accessing the disk. Uses few regular expressions: compiling one costs a hook more than everything else
// here.

/** Absolute and normalized. A path that starts with a hole can be anywhere and stays relative. */
export function locate(path: string, cwd: string): string {
  const joined = path.startsWith("/") || "\uE000\uE001\uE004\uE005".includes(path[0] ?? "-") ? path : `${cwd}/${path}`;
  return normal(joined);
}

/** Removes `.`, `..`, double and trailing slashes. */
export function normal(path: string): string {
  const isAbsolute = path.startsWith("/");
  // Most absolute paths are normalized already, and a long command line asks for very many.
  if (isAbsolute && isNormal(path)) return path;
  const kept: string[] = [];
  for (const name of pathSegments(path)) {
    const hasParent = isAbsolute || (kept.at(-1) ?? "..") !== "..";
    if (name === ".." && hasParent) kept.pop();
    else kept.push(name);
  }
  return (isAbsolute ? "/" : "") + kept.join("/") || ".";
}

/** Whether no segment is empty, `.` or `..`. */
function isNormal(path: string): boolean {
  const whole = `${path}/`;
  return !(whole.includes("//") || whole.includes("/./") || whole.includes("/../"));
}

export function isInside(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory === "/" ? "/" : `${directory}/`);
}

export function baseName(path: string): string {
  let end = path.length;
  while (end > 1 && path[end - 1] === "/") end--;
  return path.slice(path.lastIndexOf("/", end - 1) + 1, end);
}

export function parentOf(path: string): string {
  const cut = path.lastIndexOf("/");
  return cut > 0 ? path.slice(0, cut) : cut === 0 ? "/" : ".";
}

export function pathSegments(path: string): string[] {
  return path.split("/").filter((name) => name !== "" && name !== ".");
}
