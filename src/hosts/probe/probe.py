# sparkdeck's probe: reads facts on a host and forwards them, one JSON object a line. It knows nothing of their meaning.
# It is sent over the SSH channel and run by `python3 -uc`; nothing is stored on the host. Standard library only.
# Arguments: PERIOD (seconds between ticks), NONCE (repeated in the magic line, so that shell noise is told apart).
# It ends by itself: every byte on stdin puts SIGALRM off for QUIET seconds, EOF ends it at once, and its children are
# tied to it by PR_SET_PDEATHSIG. So nothing is left behind, also when the network is cut without a word.
import ctypes, json, os, select, signal, subprocess, sys, time

PERIOD, NONCE = float(sys.argv[1]), sys.argv[2]
QUIET = 8           # seconds without a heartbeat until the end
WALK = 5            # seconds between walks over all processes
REFRESH = 30        # seconds between complete readings of the units; in between, D-Bus signals say what changed
POLL = 5            # the same where there are no signals
HUNG = 15           # seconds of silence after which a standing nvidia-smi counts as hung
LARGE = 64 << 20    # bytes of anonymous memory from which a process or a group is looked at more closely
LIMIT = 1 << 22     # bytes waiting to be written beyond which ticks are dropped
SHOW = ('Id,Description,LoadState,ActiveState,SubState,Type,MainPID,ControlGroup,InvocationID,Job,Result,Restart,NRestarts,'
        'UnitFileState,TriggeredBy,RequiredBy,RequisiteOf,BoundBy,ConsistsOf,PropagatesStopTo,UpheldBy,ExecStart,'
        'TimeoutStopUSec,ActiveEnterTimestampMonotonic')
GPU = ('index,uuid,name,driver_version,pstate,utilization.gpu,temperature.gpu,power.draw,clocks.current.graphics,'
       'clocks.max.graphics,memory.total,memory.used,memory.free')

now = time.monotonic
out = bytearray()
libc = ctypes.CDLL(None)
env = dict(os.environ, LC_ALL='C', SYSTEMD_PAGER='', SYSTEMD_COLORS='0')
env.setdefault('XDG_RUNTIME_DIR', '/run/user/%d' % os.getuid())


def send(kind, **fields):
    if kind != 'tick' or len(out) < LIMIT:
        out.extend(json.dumps(dict(fields, k=kind), separators=(',', ':')).encode() + b'\n')


def read(path, size=65536):
    try:
        with open(path, 'rb', buffering=0) as f:
            return f.read(size).decode('utf-8', 'surrogateescape')
    except OSError:
        return None


class Child:
    """A child process whose output is collected without ever waiting for it. Silent for too long, it is killed once;
    one that cannot die (a driver in state D) is left alone, and no second one is started beside it."""
    live = {}

    def __init__(self, argv, lines=None, end=None, patience=10):
        self.lines, self.end, self.patience, self.buf, self.err, self.killed = lines, end, patience, b'', b'', False
        self.heard = now()
        self.p = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env,
                                  preexec_fn=lambda: libc.prctl(1, signal.SIGKILL))
        self.open = [self.p.stdout, self.p.stderr]
        for f in self.open:
            os.set_blocking(f.fileno(), False)
            Child.live[f.fileno()] = (self, f)

    def ready(self, f):
        data = f.read(1 << 20)
        self.heard = now()
        if data == b'':
            Child.live.pop(f.fileno(), None)
            self.open.remove(f)
            f.close()
        elif data and f is self.p.stderr:
            self.err = (self.err + data)[-2000:]
        elif data:
            self.buf += data
            if self.lines and b'\n' in self.buf:
                whole, self.buf = self.buf.rsplit(b'\n', 1)
                self.lines(whole.decode('utf-8', 'replace').split('\n'))

    def check(self):
        """True while it lives."""
        if now() - self.heard > self.patience and not self.killed:
            self.killed = True
            self.p.kill()
        if self.p.poll() is None:
            return True
        for f in list(self.open):
            self.ready(f)
        for f in self.open:
            Child.live.pop(f.fileno(), None)
            f.close()
        self.open = []
        if self.end:
            self.end(self.p.returncode, self.buf.decode('utf-8', 'replace'), self.err.decode('utf-8', 'replace'), self.killed)
        return False


class Standing:
    """A command that prints for ever (nvidia-smi -l); started again some time after it ended."""

    def __init__(self, what, argv, lines):
        self.what, self.argv, self.lines, self.child, self.next, self.wait, self.told = what, argv, lines, None, 0, 1, False

    def check(self):
        if self.child:
            if not self.child.check():
                self.child = None
            elif self.child.killed and not self.told:
                # It may never end (state D in the driver): that it does not answer is to be known all the same.
                self.told = True
                send('gpu', what=self.what, error='no answer for %d s' % HUNG)
        elif now() >= self.next:
            self.told = False
            try:
                self.child = Child(self.argv, self.heard, self.ended, HUNG)
            except OSError as e:
                self.next = now() + 60
                send('gpu', what=self.what, error=e.strerror)

    def heard(self, lines):
        self.wait = 1
        self.lines(lines)
        send('gpu', what=self.what, at=now(), lines=lines)

    def ended(self, code, rest, err, killed):
        self.next = now() + self.wait
        self.wait = min(self.wait * 2, 60)
        send('gpu', what=self.what, error='no answer for %d s' % HUNG if killed else (rest + err).strip()[-500:], code=code)


class Units:
    """The units of one manager: `systemctl show` for what they are, D-Bus signals for when to look again."""

    def __init__(self, manager):
        self.manager, self.cmd = manager, ['systemctl', '--user'] if manager == 'user' else ['systemctl']
        self.dirty, self.watched, self.child, self.full, self.last, self.bus = set(), set(), None, 0, 0, None
        try:
            self.bus = Bus(manager == 'user', self.dirty.add)
        except (OSError, AttributeError) as e:
            send('note', text='%s manager: no D-Bus signals (%s), reading every %d s' % (manager, e, POLL))

    def check(self):
        if self.bus:
            self.bus.process()
        if self.child:
            if not self.child.check():
                self.child = None
            return
        if now() >= self.full:
            self.full = now() + (REFRESH if self.bus else POLL)
            self.dirty.clear()
            self.show(['*.service'] + sorted(self.watched), True)
        elif self.dirty and now() - self.last > 0.5:
            names = sorted(self.dirty)[:50]
            self.dirty.difference_update(names)
            self.show(names, False)

    def show(self, names, full):
        self.last = now()
        asked = now()

        def end(code, text, err, killed):
            # Half an answer would make units disappear that are there.
            if code == 0 and not killed:
                send('units', mgr=self.manager, full=full, at=asked, text=text)
                if not full:
                    look_again()
            else:
                send('units', mgr=self.manager, error='no answer' if killed else err.strip()[-500:] or 'failed', code=code)
                self.full = min(self.full, now() + POLL)
        try:
            self.child = Child(self.cmd + ['show', '--no-pager', '-p', SHOW, '--'] + names, end=end)
        except OSError as e:
            self.full = now() + 60
            send('units', mgr=self.manager, error=e.strerror)


class Bus:
    """Signals of systemd through libsystemd's sd-bus: which unit changed. Works for unprivileged users on both buses."""

    def __init__(self, user, changed):
        L = self.L = ctypes.CDLL('libsystemd.so.0')
        self.p = ctypes.c_void_p()
        L.sd_bus_message_get_path.restype = L.sd_bus_message_get_member.restype = ctypes.c_char_p
        L.sd_bus_message_get_path.argtypes = L.sd_bus_message_get_member.argtypes = [ctypes.c_void_p]
        os.environ.setdefault('XDG_RUNTIME_DIR', env['XDG_RUNTIME_DIR'])
        if (L.sd_bus_open_user if user else L.sd_bus_open_system)(ctypes.byref(self.p)) < 0:
            raise OSError('no bus')

        def heard(message, _data, _error):
            path, name = L.sd_bus_message_get_path(message) or b'', ctypes.c_char_p()
            if L.sd_bus_path_decode(path, b'/org/freedesktop/systemd1/unit', ctypes.byref(name)) > 0 and name.value:
                if name.value.endswith(b'.service'):
                    changed(name.value.decode('utf-8', 'replace'))
                elif name.value.endswith(b'.scope'):
                    look_again()
            return 0
        self.handler = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)(heard)
        to = b'org.freedesktop.systemd1'
        if L.sd_bus_match_signal(self.p, None, to, None, None, b'PropertiesChanged', self.handler, None) < 0:
            raise OSError('no match')
        if L.sd_bus_call_method(self.p, to, b'/org/freedesktop/systemd1', to + b'.Manager', b'Subscribe', None, None, None) < 0:
            raise OSError('not subscribed')
        self.fd = L.sd_bus_get_fd(self.p)

    def process(self):
        for _ in range(1000):
            if self.L.sd_bus_process(self.p, None) <= 0:
                break


class Containers:
    """`docker ps` (or podman's) now and then: which container ids there are, under which names."""

    def __init__(self):
        self.child, self.next, self.asked, self.tools = None, 0, 0, ['docker', 'podman']

    def check(self):
        if self.child:
            if not self.child.check():
                self.child = None
        elif self.tools and now() >= self.next:
            self.next, self.asked, tool = now() + 10, now(), self.tools[0]

            def end(code, text, err, killed):
                send('containers', tool=tool, at=now(), code=code, text=text, error='no answer' if killed else err.strip()[-500:])
            try:
                self.child = Child([tool, 'ps', '-a', '--no-trunc', '--format', '{{json .}}'], end=end)
            except OSError:
                self.tools.pop(0)
                self.next = 0
                if not self.tools:
                    send('containers', tool=None, error='neither docker nor podman is installed')


def process(pid):
    """[pid, start time in clock ticks, state, name, cgroup, anonymous bytes resident], or None when it is gone."""
    stat, statm, group = (read('/proc/%s/%s' % (pid, f)) for f in ('stat', 'statm', 'cgroup'))
    if not stat or not statm or group is None:
        return None
    head, _, tail = stat.rpartition(')')
    tail, m = tail.split(), statm.split()
    path = [l.split(':', 2)[2] for l in group.splitlines() if l.startswith('0::')] or [l.split(':', 2)[2] for l in group.splitlines() if ':name=systemd:' in l]
    # resident - shared: file and shmem pages are "shared" in statm, so what is left is anonymous (proc_pid_statm(5))
    return [int(pid), int(tail[19]), tail[0], head.partition('(')[2], path[0] if path else '', (int(m[1]) - int(m[2])) * PAGE]


def number_after(text, word):
    for line in (text or '').split('\n'):
        if line.startswith(word):
            return int(line.split()[1])
    return None


def walk():
    """All processes: anonymous memory by cgroup, and each process that is large by itself. A group is [processes, bytes,
    how it is known, bytes of its largest process]: `cgroup` from memory.stat; `pss` from smaps_rollup; `rss` is a sum in
    which pages that forked processes share are counted more than once."""
    groups, large, pids = {}, [], {}
    for pid in os.listdir('/proc'):
        if pid.isdigit():
            p = process(pid)
            if p and p[2] != 'Z':
                g = groups.setdefault(p[4], [0, 0, 'rss', 0])
                g[0] += 1
                g[1] += p[5]
                g[3] = max(g[3], p[5])
                pids.setdefault(p[4], []).append(pid)
                if p[5] >= LARGE:
                    large.append(p)
    for path, g in groups.items():
        if g[0] > 1 and g[1] >= LARGE:
            anon = number_after(read('/sys/fs/cgroup%s/memory.stat' % path), 'anon ')
            if anon is not None:
                g[1:3] = [anon, 'cgroup']
                continue
            pss = [number_after(read('/proc/%s/smaps_rollup' % pid), 'Pss_Anon:') for pid in pids[path]]
            if None not in pss:
                g[1:3] = [sum(pss) * 1024, 'pss']
        elif g[0] == 1:
            g[2] = 'process'
    send('walk', at=now(), groups=groups, large=large)


def look_again():
    """What started or ended has processes and perhaps a container: look at both soon, but not in a storm."""
    global next_walk
    next_walk = min(next_walk, max(now() + 0.2, walked + 1))
    containers.next = min(containers.next, max(now() + 0.2, containers.asked + 1))


PAGE = os.sysconf('SC_PAGE_SIZE')
held = {}           # pid -> when nvidia-smi last named it


def compute_apps(lines):
    for line in lines:
        for field in line.split(',')[:3]:
            if field.strip().isdigit():
                held[field.strip()] = now()
                break


def commands(data):
    """What comes on stdin beside the heartbeat: `ping N` is answered at once (round-trip time); `watch MANAGER UNIT`
    follows a unit also when systemd has unloaded it."""
    for line in data.decode('utf-8', 'replace').split('\n'):
        word = line.split(' ')
        if word[0] == 'ping' and len(word) == 2:
            send('pong', n=word[1])
        if len(word) == 3 and word[0] == 'watch' and not word[2].startswith('-'):
            for u in units:
                if u.manager == word[1]:
                    u.watched.add(word[2])
                    u.dirty.add(word[2])


def tick(n):
    procs = []
    for pid in list(held):
        p = process(pid)
        if p:
            procs.append(p)
        elif now() - held[pid] > 3:
            del held[pid]
    send('tick', n=n, at=now(), meminfo=read('/proc/meminfo'), psi=read('/proc/pressure/memory'),
         cpu=(read('/proc/stat', 4096) or '').split('\n')[0], gone=[int(p) for p in held if not os.path.exists('/proc/' + p)], procs=procs)


signal.alarm(QUIET)
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
os.set_blocking(1, False)
out.extend(('sparkdeck-probe 1 %s\n' % NONCE).encode())
send('hello', at=now(), hostname=os.uname().nodename, kernel=os.uname().release, machine=os.uname().machine,
     boot=(read('/proc/sys/kernel/random/boot_id') or '').strip(), uid=os.getuid(), user=env.get('USER', env.get('LOGNAME', '')),
     hertz=os.sysconf('SC_CLK_TCK'), python=sys.version.split()[0], pid=os.getpid())
n, walked, next_tick, next_walk, containers = 0, 0, now(), now(), Containers()
units = [Units('system'), Units('user')]
parts = units + [containers,
                 Standing('query', ['nvidia-smi', '--query-gpu=' + GPU, '--format=csv', '-l', '1'], lambda lines: None),
                 Standing('apps', ['nvidia-smi', '--query-compute-apps=pid,used_memory,gpu_uuid,process_name', '--format=csv', '-l', '1'], compute_apps)]
while True:
    for part in parts:
        part.check()
    if now() >= next_walk:
        walked, next_walk = now(), now() + WALK
        walk()
    if now() >= next_tick:
        tick(n)
        n += 1
        # Quick at first, so that a screen is whole soon after the session is up.
        next_tick = max(next_tick + (PERIOD if n > 6 else min(PERIOD, 0.25)), now())
    fds = [0] + list(Child.live) + [u.bus.fd for u in units if u.bus]
    r, w, _ = select.select(fds, [1] if out else [], [], max(0, min(next_tick - now(), 0.25 if any(u.dirty for u in units) else 1)))
    for fd in r:
        if fd == 0:
            data = os.read(0, 4096)
            if not data:
                os._exit(0)
            signal.alarm(QUIET)
            commands(data)
        elif fd in Child.live:
            child, f = Child.live[fd]
            child.ready(f)
    if w:
        try:
            del out[:os.write(1, out)]
        except BlockingIOError:
            pass
