// What namespaces leave within reach: abstract Unix sockets belong to the network, which a sandbox shares, and keys of the kernel to the
// session. Landlock (Linux 6.12) takes the sockets away, a new session keyring the keys. No command does either: perl or python3 makes the calls.

/**
 * Landlock's calls have the same numbers on every processor: a ruleset of no files, no network and the scope of abstract sockets. The call
 * about keys has not; where its number is not known, keys stay. Signals get their meaning back, which no shell can do.
 */
const perl = `use Config; delete $ENV{PERL_BADLANG};
my $keys = $Config{archname} =~ /^x86_64/ ? 250 : $Config{archname} =~ /^(?:aarch64|riscv64)/ ? 219 : 0; syscall($keys, 1, 0) if $keys;
my $rules = pack("QQQ", 0, 0, 1); my $fd = syscall(444, $rules, 24, 0);
if ($fd < 0 || syscall(446, $fd, 0) != 0) { print STDERR "The sandbox cannot scope sockets: $!\\n"; exit 126 }
$SIG{$_} = "DEFAULT" for qw(HUP INT TERM); exec { $ARGV[0] } @ARGV; print STDERR "$ARGV[0]: $!\\n"; exit 127`;

const python = `import ctypes, os, signal, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
keys = {"x86_64": 250, "aarch64": 219, "riscv64": 219}.get(os.uname().machine, 0) if struct.calcsize("P") == 8 else 0
if keys:
    libc.syscall(keys, 1, None)
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

/** Commands that run what follows without abstract sockets, the better ones first. Only programs of the system, which are there inside. */
export const scopes: readonly (readonly string[])[] = ["/usr/bin", "/run/current-system/sw/bin"].flatMap(
  (directory) => [
    [`${directory}/perl`, "-e", perl],
    [`${directory}/python3`, "-I", "-S", "-c", python],
  ],
);
