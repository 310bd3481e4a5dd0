#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Clients of ntrace gdb: several at a time, killed ones, and ones that send anything.

gdb_clients.py NTRACE ELF TRACE INSTRUCTIONS SEED: prints "ok TEXT" or "failed TEXT" for each test.
"""
import atexit
import json
import random
import resource
import signal
import socket
import subprocess
import sys
import time

NTRACE, ELF, TRACE, TOTAL, SEED = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5])


def test(good, text):
    print("ok" if good else "failed", text, flush=True)


def frame(data):
    return b"$%s#%02x" % (data, sum(data) & 255)


class Client:
    def __init__(self, address):
        host, port = address.rsplit(":", 1)
        self.socket = socket.create_connection((host.strip("[]"), int(port)), timeout=120)
        self.got = b""

    def more(self):
        data = self.socket.recv(65536)
        if not data:
            raise EOFError
        self.got += data

    def reply(self):
        """The next reply; acknowledges it."""
        while True:
            start = self.got.find(b"$")
            end = self.got.find(b"#", start)
            if start >= 0 and end >= 0 and len(self.got) >= end + 3:
                data = self.got[start + 1:end]
                assert self.got[end + 1:end + 3] == b"%02x" % (sum(data) & 255)
                self.got = self.got[end + 3:]
                self.socket.sendall(b"+")
                return data
            self.more()

    def ask(self, data):
        self.socket.sendall(frame(data))
        return self.reply()

    def monitor(self, command):
        return bytes.fromhex(self.ask(b"qRcmd," + command.encode().hex().encode()).decode()).decode()

    def place(self):
        return int(self.monitor("where").split("instruction ")[1].split()[0])


def serve(*options):
    server = subprocess.Popen([NTRACE, "gdb", "--json", *options, "--elf", ELF, TRACE], stdout=subprocess.PIPE)
    atexit.register(server.kill)
    said = json.loads(server.stdout.readline())
    return server, said


def used(server):
    """Nanoseconds of processor time."""
    return int(open(f"/proc/{server.pid}/schedstat").read().split()[0])


def rests(server):
    """Whether the server comes to rest: on a busy host it may have work left from before."""
    for _ in range(300):
        before = used(server)
        time.sleep(0.1)
        if used(server) == before:
            return True
    return False


def listens_on(port):
    """Local addresses of sockets that listen on a port, as the kernel prints them."""
    found = set()
    for name in ("tcp", "tcp6"):
        try:
            lines = open("/proc/net/" + name).read().splitlines()[1:]
        except FileNotFoundError:
            continue
        for line in lines:
            words = line.split()
            address, number = words[1].rsplit(":", 1)
            if int(number, 16) == port and words[3] == "0A":
                found.add(address)
    return found


server, said = serve()
address = said["listen"]
test(said["program"] == ELF and said["architecture"] == "riscv:rv64" and
     said["threads"] == [{"tid": 1, "name": "hart", "instructions": TOTAL}], "--json says what GDB will find")
test(listens_on(int(address.rsplit(":", 1)[1])) == {"0100007F"}, "the server listens on the loopback only")

# Where a host has IPv6, the address that is printed can be given.
try:
    socket.socket(socket.AF_INET6).bind(("::1", 0))
    server6, said6 = serve("--listen", "[::1]:0")
    client6 = Client(said6["listen"])
    test(said6["listen"].startswith("[::1]:") and client6.place() == TOTAL - 1, "an address of IPv6 has brackets")
    client6.socket.close()
    server6.wait(120)
except OSError:
    test(True, "an address of IPv6 has brackets: this host has none")

first, second = Client(address), Client(address)
for _ in range(3):
    first.ask(b"bs")
second.monitor("goto 2")
test((first.place(), second.place()) == (TOTAL - 4, 2), "two clients have their own places")

# Killed in the middle of a packet, and with replies that nobody reads.
killed = Client(address)
killed.socket.sendall(b"$qXfer:fea")
killed.socket.close()
greedy = Client(address)
try:
    greedy.socket.settimeout(5)
    for _ in range(2000):
        greedy.socket.sendall(frame(b"m10000,100") * 50)
except (socket.timeout, BrokenPipeError, ConnectionResetError):
    pass
greedy.socket.close()
test((first.place(), second.place()) == (TOTAL - 4, 2), "killed clients do not disturb others")

first.socket.sendall(b"$g#00")
first.more()
test(first.got.startswith(b"-"), "a packet with a wrong checksum is refused")
first.got = b""
test(first.ask(b"m" * 200000) == b"E.the packet is longer than PacketSize", "a packet that is too long gets an error")

generator = random.Random(SEED)
words = [b"qSupported", b"?", b"g", b"p20", b"m10000,4", b"Z0,10000,2", b"z0,10000,2", b"bs", b"bc", b"s", b"c", b"vCont;s:1", b"Hg1",
         b"Qbtrace:bts", b"qXfer:btrace:read:all:0,100", b"qXfer:features:read:target.xml:0,fff", b"vFile:open:2f,0,0", b"qRcmd,68"]
rude = Client(address)
try:
    for _ in range(3000):
        word = bytearray(generator.choice(words))
        for _ in range(generator.randrange(3)):
            word[generator.randrange(len(word))] = generator.randrange(256)
        rude.socket.sendall(generator.choice([frame(bytes(word)), bytes(word), frame(bytes(word))[:-1], b"+", b"\x03"]))
        rude.socket.setblocking(False)
        try:
            if not rude.socket.recv(1 << 20):
                break
        except BlockingIOError:
            pass
        rude.socket.setblocking(True)
except (BrokenPipeError, ConnectionResetError):
    pass
rude.socket.close()
test(second.place() == 2, "a conversation of random packets does not disturb others")

for client in (first, second):
    client.ask(b"D") if client is second else client.socket.close()
test(server.wait(120) == 0, "the server ends with its last client")

# More clients than the server takes. It is stopped while they come, so that it finds all of them at once, as on a busy host; and
# while they go, so that it finds the next one together with the last words of the others.
server, said = serve("--keep")
server.send_signal(signal.SIGSTOP)
clients = [Client(said["listen"]) for _ in range(17)]
server.send_signal(signal.SIGCONT)
served = 0
for client in clients:
    try:
        served += client.place() == TOTAL - 1
    except (EOFError, ConnectionError):
        pass
test(served == 16, "one client too many is turned away")
server.send_signal(signal.SIGSTOP)
for client in clients:
    try:
        client.socket.sendall(b"+")
    except ConnectionError:
        pass
    client.socket.close()
again = Client(said["listen"])
server.send_signal(signal.SIGCONT)
try:
    good = again.place() == TOTAL - 1 and server.poll() is None
except (EOFError, ConnectionError):
    good = False
test(good, "--keep serves on: a client comes after the others have gone")
server.terminate()
server.wait()

# Clients that open so many files that none is left for another client.
server, said = serve("--keep")
resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (24, 24))
name = ELF.encode().hex().encode()
clients = [Client(said["listen"]) for _ in range(2)]
opened = [client.ask(b"vFile:open:" + name + b",0,0") for client in clients for _ in range(20)]
waiting = Client(said["listen"])
clients[0].place()
test(opened[0] == b"F0" and opened[-1].startswith(b"F-1,") and rests(server),
     "without a file descriptor the server waits, and does not try again and again")
clients[0].socket.close()
test(waiting.place() == TOTAL - 1, "and takes the next client when one goes")
server.terminate()
server.wait()
