import { expect, test } from "vitest";
import { effectsOf, hidesCode, printsLiteral } from "./code.ts";

const writes = (code: string, language = "other") => effectsOf(code, language, "/home/dev").writes;
const commands = (code: string, language = "other") => effectsOf(code, language, "/home/dev").commands;

test.each([
  ["open('f', 'w')", ["f"]],
  ['open("f", mode="a")', ["f"]],
  ["open(name, 'wb')", [undefined]],
  ["io.open('f', 'r+')", ["f"]],
  ["Path('f').open('w')", [undefined]],
  ["p.write_text('x')", [undefined]],
  ["fs.writeFileSync('f', data)", ["f"]],
  ["require('fs').promises.appendFile('f', data)", ["f"]],
  ["const { writeFileSync: w } = fs; w('f')", [undefined]],
  ["fs['writeFile']('f')", [undefined]],
  ["os.open('f', os.O_WRONLY | os.O_CREAT)", ["f"]],
  ["File.write('f', 'x')", ["f"]],
  ["file_put_contents('f', 'x')", ["f"]],
  ["fopen('f', 'w')", ["f"]],
  ["Bun.write('f', 'x')", ["f"]],
])("%s writes %j", (code, files) => {
  expect(writes(code)).toEqual(files);
});

test.each([
  "open('f')",
  "open('f', 'r')",
  "open('f', 'rb').read().replace('b', 'a')",
  "print(open('w').read())",
  "sys.stdout.write('x')",
  "process.stdout.write('x')",
  "fs.readFileSync('f', 'utf8')",
  "tarfile.open('x.tgz', 'w:gz')",
  "'open(f, w)'",
  "Image.open('a')",
])("%s writes nothing", (code) => {
  expect(writes(code)).toEqual([]);
});

test.each([
  ["os.system('ls -la')", [{ code: "ls -la", isGuess: true }]],
  ["subprocess.run(['rm', '-rf', '/'])", [{ argv: ["rm", "-rf", "/"] }]],
  ["spawnSync('rm', ['-rf', '/'])", [{ argv: ["rm", "-rf", "/"] }]],
  ["shutil.rmtree('/x')", [{ argv: ["rm", "-rf", "/x"] }]],
  ["shutil.rmtree(os.path.expanduser('~'))", [{ argv: ["rm", "-rf", "/home/dev"] }]],
  ["fs.rmSync(os.homedir(), {})", [{ argv: ["rm", "-rf", "/home/dev"] }]],
  ["print('system')", []],
  ["run('tests')", []],
])("%s runs %j", (code, expected) => {
  expect(commands(code)).toEqual(expected);
});

test("backticks run a command only in Perl, Ruby and PHP", () => {
  expect(commands("`ls`", "perl")).toEqual([{ code: "ls", isGuess: true }]);
  expect(commands("`ls`", "javascript")).toEqual([]);
});

test("code that runs decoded text is distinguished from code that only decodes", () => {
  expect(hidesCode("exec(base64.b64decode('x'))")).toBe(true);
  expect(hidesCode("print(base64.b64decode('x'))")).toBe(false);
});

test("printing a literal is distinguished from printing a result", () => {
  expect(printsLiteral("print('x')")).toBe(true);
  expect(printsLiteral('console.log("x")')).toBe(true);
  expect(printsLiteral("print(len(x))")).toBe(false);
});
