// Closes what namespaces leave within reach: abstract Unix sockets (the sandbox shares the network), kernel keys (they belong to the
// session) and inherited descriptors. Landlock (Linux 6.12) blocks the sockets, a new session keyring hides the keys. No command-line
// program does this, so perl or python3 makes the system calls.

/** Two command prefixes, each of which runs the command that follows it. */
export interface Scope {
  /** Used outside the sandbox, followed by a number: closes all descriptors from that number on. */
  bare: readonly string[];
  /** Used inside the sandbox: blocks abstract sockets and keys of processes outside. */
  scoped: readonly string[];
}

/** The number of the keyctl system call; 0 when it is not known for this architecture. */
const KEYCTL = { x64: 250, arm64: 219, riscv64: 219 }[process.arch as string] ?? 0;

/**
 * Applies a Landlock ruleset without file or network rules that scopes abstract sockets; Landlock's calls have the same numbers on every
 * architecture. keyctl does not; where its number is unknown, keys stay reachable. Also resets ignored signals, which no shell can do.
 */
const perl = `delete $ENV{PERL_BADLANG}; syscall(${KEYCTL}, 1, 0) if ${KEYCTL};
my $rules = pack("QQQ", 0, 0, 1); my $fd = syscall(444, $rules, 24, 0);
if ($fd < 0 || syscall(446, $fd, 0) != 0) { print STDERR "The sandbox cannot scope sockets: $!\\n"; exit 126 }
$SIG{$_} = "DEFAULT" for qw(HUP INT TERM); exec { $ARGV[0] } @ARGV; print STDERR "$ARGV[0]: $!\\n"; exit 127`;

/** Calls close_range with the flag that closes the descriptors when the next program starts. */
const perlBare = `delete $ENV{PERL_BADLANG}; my $first = shift;
if (syscall(436, $first + 0, 4294967295, 4) != 0) { print STDERR "The sandbox cannot close descriptors: $!\\n"; exit 126 }
exec { $ARGV[0] } @ARGV; print STDERR "$ARGV[0]: $!\\n"; exit 127`;

const pythonBare = `import ctypes, os, sys
if ctypes.CDLL(None).syscall(436, ctypes.c_uint(int(sys.argv[1])), ctypes.c_uint(4294967295), 4) != 0:
    sys.exit(126)
os.execvp(sys.argv[2], sys.argv[2:])`;

const python = `import ctypes, os, signal, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
if ${KEYCTL}:
    libc.syscall(${KEYCTL}, 1, None)
fd = libc.syscall(444, struct.pack("QQQ", 0, 0, 1), ctypes.c_size_t(24), 0)
if fd < 0 or libc.syscall(446, fd, 0) != 0:
    print("The sandbox cannot scope sockets: " + os.strerror(ctypes.get_errno()), file=sys.stderr)
    sys.exit(126)
for name in ("HUP", "INT", "TERM", "PIPE", "XFSZ"):
    signal.signal(getattr(signal, "SIG" + name), signal.SIG_DFL)
try:
    os.execvp(sys.argv[1], sys.argv[1:])
except OSError as error:
    print(sys.argv[1] + ": " + error.strerror, file=sys.stderr)
    sys.exit(127)`;

const languages = [
  { name: "perl", options: ["-e"], bare: perlBare, scoped: perl },
  { name: "python3", options: ["-I", "-S", "-c"], bare: pythonBare, scoped: python },
];

/** In order of preference. Only system programs, because these exist inside the sandbox. */
export const scopes: readonly Scope[] = ["/usr/bin", "/run/current-system/sw/bin"].flatMap((directory) =>
  languages.map(({ name, options, bare, scoped }) => {
    const start = [`${directory}/${name}`, ...options];
    return { bare: [...start, bare], scoped: [...start, scoped] };
  }),
);
