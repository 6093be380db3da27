#!/usr/bin/python3
"""A stand-in for a model server, holding real memory of two kinds.

Host memory (--host MIB) is touched anonymous pages, seen everywhere: RSS, AnonPages, cgroup.

GPU memory (--gpu MIB) behaves as CUDA memory does on a GB10, where CPU and GPU share one pool: MemAvailable falls by
it, but it is in no process's RSS, in no meminfo category and in no cgroup figure. It is bytes queued in unix sockets
and never read: the kernel keeps them in bare pages. SIOCOUTQ gives what the queue really costs, bookkeeping included,
so the figure published is the one by which MemAvailable falls. Closing the sockets (any kind of exit) gives it back.
Pipes would do too, but are limited to 64 MiB a user.

What is held is published as "<MiB> <start time>" in /run/lab-gpu/<pid> for the stand-in nvidia-smi.
"""
import argparse
import ctypes
import fcntl
import json
import mmap
import os
import resource
import signal
import socket
import socketserver
import struct
import sys
import termios
import threading
import time

MIB = 1 << 20
PUBLISHED = '/run/lab-gpu'
# At 32 KiB the kernel puts all of a message's data into page fragments: measured, 2.4 % of the queue is slab and the rest
# is bare pages. Other sizes (40, 44, 48, 64 KiB, 1 MiB) put 8 to 13 % into slab.
CHUNK = memoryview(bytes(32768))


def arguments():
    a = argparse.ArgumentParser(description='stand-in model server')
    a.add_argument('--name', default='vllm', help='comm of the main process')
    a.add_argument('--model', default='', help='what /v1/models answers')
    a.add_argument('--gpu', type=int, default=0, metavar='MIB')
    a.add_argument('--host', type=int, default=0, metavar='MIB')
    a.add_argument('--ramp', type=float, default=0, metavar='SEC', help='take the GPU memory over this time, as a load does')
    a.add_argument('--port', type=int, default=0, help='HTTP on 127.0.0.1')
    a.add_argument('--engine', action='store_true', help='a child named VLLM::EngineCore holds the memory')
    a.add_argument('--children', type=int, default=0, metavar='N', help='child processes, the engine included')
    a.add_argument('--connect', type=int, action='append', default=[], metavar='PORT', help='keep one connection open to it')
    a.add_argument('--log', type=float, default=0, metavar='SEC', help='a log line every SEC')
    a.add_argument('--exit', type=float, default=0, metavar='SEC', help='fail with rc 3 after SEC')
    a.add_argument('--ignore-term', action='store_true')
    return a.parse_args()


def set_comm(name):
    ctypes.CDLL(None).prctl(15, name.encode(), 0, 0, 0)  # PR_SET_NAME; the kernel keeps 15 characters


def set_title(title):
    """Overwrites argv, as setproctitle does: /proc/PID/cmdline then reads only the title."""
    set_comm(title)
    with open('/proc/self/stat') as f:
        fields = f.read().rpartition(')')[2].split()
    start, end = int(fields[45]), int(fields[46])  # arg_start, arg_end
    ctypes.memmove(start, title.encode()[: end - start - 1].ljust(end - start, b'\0'), end - start)


def start_time(pid):
    with open(f'/proc/{pid}/stat') as f:
        return f.read().rpartition(')')[2].split()[19]


def hold_host(mib):
    """Touched anonymous pages; small pages, so that the figure is exact."""
    if not mib:
        return None
    pages = mmap.mmap(-1, mib * MIB, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    pages.madvise(mmap.MADV_NOHUGEPAGE) if hasattr(mmap, 'MADV_NOHUGEPAGE') else None
    for offset in range(0, len(pages), mmap.PAGESIZE):
        pages[offset] = 1
    return pages


def queued(sock):
    return struct.unpack('i', fcntl.ioctl(sock, termios.TIOCOUTQ, b'\0' * 4))[0]


def publish(held):
    path = f'{PUBLISHED}/{os.getpid()}'
    try:
        with open(f'{path}.new', 'w') as f:
            f.write(f'{round(held / MIB)} {start_time(os.getpid())}\n')
        os.rename(f'{path}.new', path)
    except OSError as e:
        print(f'cannot publish GPU memory: {e}', flush=True)


def hold_gpu(mib, ramp):
    """Fills unix sockets until they hold mib. Each takes net.core.wmem_max × 2, so a small setting needs many."""
    if not mib:
        return None
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    target, held, sockets, began = mib * MIB, 0, [], time.monotonic()
    while held < target:
        pair = socket.socketpair()
        sockets += pair
        for s in pair:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 30)
            s.setblocking(False)
            try:
                while held + queued(s) < target:
                    s.send(CHUNK)
            except BlockingIOError:
                pass
            held += queued(s)
        if ramp:
            publish(held)
            time.sleep(max(0.0, began + ramp * held / target - time.monotonic()))
    publish(held)
    return sockets


def unpublish():
    try:
        os.unlink(f'{PUBLISHED}/{os.getpid()}')
    except OSError:
        pass


def serve(port, model):
    """HTTP without http.server, whose imports would double what a small service holds."""
    models = json.dumps({'object': 'list', 'data': [{'id': model, 'object': 'model'}]}).encode()

    class Handler(socketserver.StreamRequestHandler):
        def handle(self):
            # A connection on which nothing is asked stays open.
            while request := self.rfile.readline(4096):
                while self.rfile.readline(4096).strip():
                    pass
                body = models if b' /v1/models ' in request else b''
                self.wfile.write(b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n' % len(body) + body)

    class Server(socketserver.ThreadingTCPServer):
        allow_reuse_address = True
        daemon_threads = True

        def handle_error(self, *_):  # a peer that goes away is nothing to write about
            pass

    threading.Thread(target=Server(('127.0.0.1', port), Handler).serve_forever, daemon=True).start()


def stay_connected(port):
    """One TCP connection for ever; a lost one is made again within a second."""
    while True:
        try:
            with socket.create_connection(('127.0.0.1', port), timeout=5) as s:
                s.settimeout(None)
                s.recv(1)  # the other side never says anything: this returns when it has gone
        except OSError:
            pass
        time.sleep(1)


def main():
    o = arguments()
    set_comm(o.name)
    signal.signal(signal.SIGTERM, lambda *_: print('ignoring SIGTERM', flush=True) if o.ignore_term else sys.exit(0))
    roles = ['VLLM::EngineCore'] if o.engine else []
    roles += ['VLLM::APIServer'] * (o.children - len(roles))
    role, children = None, []
    for r in roles:
        pid = os.fork()
        if pid == 0:
            role, children = r, []
            set_title(r)
            break
        children.append(pid)
    try:
        kept = []  # only to keep what it holds alive
        if role == ('VLLM::EngineCore' if o.engine else None):
            kept += [hold_host(o.host), hold_gpu(o.gpu, o.ramp)]
            if o.gpu or o.host:
                print(f'holding {o.gpu} MiB of GPU and {o.host} MiB of host memory', flush=True)
        if role is None:
            if o.port:
                serve(o.port, o.model)
            for port in o.connect:
                threading.Thread(target=stay_connected, args=(port,), daemon=True).start()
        began = logged = time.monotonic()
        while True:
            time.sleep(0.5)
            now = time.monotonic()
            if role is None and o.log and now - logged >= o.log:
                logged = now
                print(f'alive for {now - began:.0f} s', flush=True)
            if role is None and o.exit and now - began >= o.exit:
                print('failing on purpose', flush=True)
                sys.exit(3)
            if children and os.waitpid(-1, os.WNOHANG)[0]:
                print('a child died: giving up', flush=True)
                sys.exit(1)
    finally:
        unpublish()
        for pid in children:
            try:
                os.kill(pid, signal.SIGTERM)
            except ProcessLookupError:
                pass


main()
