// Abstract Unix sockets belong to the network, which a sandbox shares: X servers, buses and agents of keys may listen there. Landlock (Linux
// 6.12) takes them away, but has no command of its own. Perl or Python makes the three calls, and gives signals their meaning back as well.

/** struct landlock_ruleset_attr: no files, no network, LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET. The numbers are the same on every processor. */
const perl = `delete $ENV{PERL_BADLANG}; my $rules = pack("QQQ", 0, 0, 1); my $fd = syscall(444, $rules, 24, 0);
if ($fd < 0 || syscall(446, $fd, 0) != 0) { print STDERR "The sandbox cannot scope sockets: $!\\n"; exit 126 }
$SIG{$_} = "DEFAULT" for qw(HUP INT TERM); exec { $ARGV[0] } @ARGV; print STDERR "$ARGV[0]: $!\\n"; exit 127`;

const python = `import ctypes, os, signal, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
fd = libc.syscall(444, struct.pack("QQQ", 0, 0, 1), ctypes.c_size_t(24), 0)
if fd < 0 or libc.syscall(446, fd, 0) != 0:
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
