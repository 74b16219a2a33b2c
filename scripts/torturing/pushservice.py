"""A push service that remembers everything: what it received for which token, when, and what it answered."""

import asyncio
import collections
import contextlib
import json
import logging
import multiprocessing
import os
import ssl
import threading
import time

from hpack import Decoder, literal

# It warns of what is written to a connection that a killed provider has closed.
logging.getLogger("asyncio").setLevel(logging.ERROR)
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, SETTINGS, PING, GOAWAY, WINDOW_UPDATE = 0, 1, 4, 6, 7, 8
END_STREAM, END_HEADERS, ACK = 1, 4, 1
# The number of frames that are taken from one connection before it is another's turn.
FRAMES = 32

# One push: on the monotonic clock and on the wall clock in nanoseconds; status None is silence.
Push = collections.namedtuple("Push", "at environment topic token apns_id status answered authorization", defaults=(None,))
# seconds None is never.
Answer = collections.namedtuple("Answer", "status reason seconds", defaults=(200, None, 0))
SILENCE = Answer(None, None, None)


def frame(kind, flags, stream, content=b""):
    return len(content).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + content


class Connection(asyncio.Protocol):
    """One connection of a provider; `service.judge` decides what a push is answered."""

    def __init__(self, service, environment):
        self.service, self.environment = service, environment
        self.buffer, self.decoder, self.consumed = bytearray(), Decoder(), 0
        self.is_open, self.streams, self.last, self.end = False, {}, 0, None

    def connection_made(self, transport):
        self.transport = transport
        self.service.connections.add(self)
        settings = b"\0\3" + self.service.streams.to_bytes(4, "big") + b"\0\4" + (2 ** 20).to_bytes(4, "big")
        self.write(frame(SETTINGS, 0, 0, settings)
                   + frame(WINDOW_UPDATE, 0, 0, (2 ** 30).to_bytes(4, "big")))

    def connection_lost(self, _):
        self.service.connections.discard(self)

    def write(self, content):
        if not self.transport.is_closing():
            self.transport.write(content)

    def data_received(self, content):
        self.buffer += content
        if not self.is_open:
            if len(self.buffer) < len(PREFACE):
                return
            self.is_open = True
            del self.buffer[:len(PREFACE)]
        self.take_turn()

    def take_turn(self):
        """Takes some frames: connections take turns, so that one that sends without end does not hold up the others."""
        for _ in range(FRAMES):
            if not self.take_frame():
                return self.transport.resume_reading()
        self.transport.pause_reading()
        self.service.loop.call_soon(self.take_turn)

    def take_frame(self):
        """Takes the next frame, and returns whether there was a whole one."""
        buffer = self.buffer
        if len(buffer) < 9 or len(buffer) < 9 + (length := int.from_bytes(buffer[:3], "big")):
            return False
        kind, flags, stream = buffer[3], buffer[4], int.from_bytes(buffer[5:9], "big")
        content = bytes(buffer[9:9 + length])
        del buffer[:9 + length]
        self.take(kind, flags, stream, content)
        return True

    def take(self, kind, flags, stream, content):
        if kind == HEADERS:
            fields = self.decoder.decode(content)
            self.last = max(self.last, stream)
            # What was on its way when the last stream was named is not processed: it may be sent elsewhere.
            if self.end is None or stream <= self.end:
                self.streams[stream] = fields
        elif kind == DATA:
            self.consumed += len(content)
            if self.consumed > 2 ** 28:
                self.write(frame(WINDOW_UPDATE, 0, 0, self.consumed.to_bytes(4, "big")))
                self.consumed = 0
        elif kind == SETTINGS and not flags & ACK:
            self.write(frame(SETTINGS, ACK, 0))
        elif kind == PING and not flags & ACK:
            self.write(frame(PING, ACK, 0, content))
        if kind in (HEADERS, DATA) and flags & END_STREAM and stream in self.streams:
            self.receive(stream, self.streams.pop(stream))

    def receive(self, stream, fields):
        if not fields.get(":path", "").startswith("/3/device/"):
            # Channels are managed elsewhere.
            head = literal(":status", "404")
            return self.write(frame(HEADERS, END_HEADERS, stream, head) + frame(DATA, END_STREAM, stream, b'{"reason":"BadPath"}'))
        token, topic = fields[":path"].rpartition("/")[2], fields.get("apns-topic")
        apns_id = fields["apns-id"].lower()
        answer = self.service.judge(self.environment, token, topic, apns_id)
        at = time.monotonic_ns()
        answered = None if answer.seconds is None else at + int(answer.seconds * 1e9)
        self.service.received.append(
            Push(at, self.environment, topic, token, apns_id, answer.status, answered, fields.get("authorization")))
        if answer.seconds is None:
            return
        if answer.seconds:
            self.service.loop.call_later(answer.seconds, self.answer, stream, apns_id, answer)
        else:
            self.answer(stream, apns_id, answer)

    def answer(self, stream, apns_id, answer):
        head = literal(":status", str(answer.status)) + literal("apns-id", apns_id)
        if answer.status == 200:
            return self.write(frame(HEADERS, END_HEADERS | END_STREAM, stream, head))
        body = {"reason": answer.reason}
        if answer.status == 410:
            body["timestamp"] = int(time.time() * 1000)
        self.write(frame(HEADERS, END_HEADERS, stream, head)
                   + frame(DATA, END_STREAM, stream, json.dumps(body).encode()))

    def go_away(self):
        """Nothing after the last stream that was read will be processed."""
        self.end = self.last if self.end is None else self.end
        self.write(frame(GOAWAY, 0, 0, self.end.to_bytes(4, "big") + bytes(4)))


class PushService:
    """Both environments, each at a port of its own, in a thread."""

    def __init__(self, work, judge=None, streams=1000):
        """Streams are those that it allows on a connection."""
        self.judge, self.streams = judge or (lambda *_: Answer()), streams
        self.received, self.connections, self.ports = [], set(), {}
        self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.tls.load_cert_chain(f"{work}/server.pem", f"{work}/server.key")
        self.tls.set_alpn_protocols(["h2"])
        self.authority = f"{work}/server.pem"
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_forever, daemon=True).start()
        for environment in ("sandbox", "production"):
            self.ports[environment] = self.run(self.open(environment))

    def run(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(20)

    async def open(self, environment):
        server = await self.loop.create_server(
            lambda: Connection(self, environment), "127.0.0.1", 0, ssl=self.tls, backlog=100)
        return server.sockets[0].getsockname()[1]

    def go_away(self):
        self.loop.call_soon_threadsafe(lambda: [connection.go_away() for connection in list(self.connections)])

    def cut(self):
        """Ends all connections without a word."""
        self.loop.call_soon_threadsafe(
            lambda: [connection.transport.abort() for connection in list(self.connections)])


class SeparatePushService:
    """A push service in a process of its own, which accepts every push: whatever it receives takes no time of those who measure."""

    def __init__(self, work, topic, note):
        """`note` is called with each token of a topic, and when it was received on the monotonic clock."""
        self.authority = f"{work}/server.pem"
        context = multiprocessing.get_context("fork")
        reader, writer = context.Pipe(False)
        self.process = context.Process(target=self.serve, args=(work, topic, writer, os.getpid()), daemon=True)
        self.process.start()
        writer.close()
        self.ports = reader.recv()
        threading.Thread(target=self.read, args=(reader, note), daemon=True).start()

    @staticmethod
    def serve(work, noted, writer, parent):
        def judge(_, token, topic, __):
            if topic == noted:
                writer.send((token, time.monotonic()))
            return Answer(200, None, 0.001)

        service = PushService(work, judge)
        writer.send(service.ports)
        # It ends with those who measure, however they end.
        while os.getppid() == parent:
            time.sleep(1)

    @staticmethod
    def read(reader, note):
        with contextlib.suppress(EOFError):
            while True:
                note(*reader.recv())

    def end(self):
        self.process.kill()
