"""A way between provider and push service, or database, that can be disturbed."""

import asyncio
import multiprocessing
import threading


class Line:
    """One connection through the proxy. What is read while nothing passes is kept, as a network without loss would."""

    def __init__(self, proxy, reader, writer):
        self.proxy, self.reader, self.writer, self.is_half_closed = proxy, reader, writer, False

    async def run(self, target):
        if self.proxy.is_partitioned:
            return self.writer.transport.abort()
        try:
            self.far_reader, self.far_writer = await (
                asyncio.open_unix_connection(target) if isinstance(target, str)
                else asyncio.open_connection("127.0.0.1", target))
        except OSError:
            return self.writer.transport.abort()
        self.proxy.lines.add(self)
        try:
            await asyncio.gather(self.pump(self.reader, self.far_writer), self.pump(self.far_reader, self.writer))
        except OSError:
            pass
        finally:
            self.proxy.lines.discard(self)
            self.abort()

    async def pump(self, reader, writer):
        while content := await reader.read(65_536):
            if self.proxy.delay:
                await asyncio.sleep(self.proxy.delay)
            await self.proxy.passes.wait()
            # What is said after the end was said for it is lost.
            if not (self.is_half_closed and writer is self.writer):
                writer.write(content)
                await writer.drain()
        if not (self.is_half_closed and writer is self.writer):
            writer.write_eof()

    def abort(self):
        self.writer.transport.abort()
        self.far_writer.transport.abort()

    def half_close(self):
        """The service has nothing more to say, and still listens."""
        if not (self.writer.is_closing() or self.is_half_closed):
            self.is_half_closed = True
            self.writer.write_eof()


class Proxy:
    """Listens at a port, or at the path of a local socket; where it leads, which is also either of them, may change."""

    def __init__(self, target, path=None):
        self.target, self.path, self.lines, self.is_partitioned, self.delay = target, path, set(), False, 0
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_forever, daemon=True).start()
        self.port = self.run(self.open())

    def run(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(20)

    async def open(self):
        self.passes = asyncio.Event()
        self.passes.set()
        def run(reader, writer):
            return Line(self, reader, writer).run(self.target)
        if self.path:
            self.server = await asyncio.start_unix_server(run, self.path)
            return None
        self.server = await asyncio.start_server(run, "127.0.0.1", 0)
        return self.server.sockets[0].getsockname()[1]

    async def change(self, function):
        function()

    def each(self, act):
        self.run(self.change(lambda: [act(line) for line in list(self.lines)]))

    def partition(self):
        """Open connections break, new ones are refused."""
        self.is_partitioned = True
        self.each(Line.abort)

    def black_hole(self):
        """Nothing comes through, and nobody is told."""
        self.run(self.change(self.passes.clear))

    def half_close(self):
        self.each(Line.half_close)

    def heal(self):
        self.is_partitioned = False
        self.run(self.change(self.passes.set))

    def cut(self):
        self.each(Line.abort)

    def close(self):
        """Where it led is gone: connections are refused from now on."""
        self.run(self.change(self.server.close))
        self.cut()

    def slow_down(self, seconds):
        """Whatever passes is late by so much."""
        self.delay = seconds


class SeparateProxies:
    """Proxies in a process of their own: what passes takes no time of those who measure."""

    def __init__(self, ways):
        """Ways are the target and the path of each, by name. To be made before this process has other threads."""
        context = multiprocessing.get_context("fork")
        self.pipe, other = context.Pipe()
        self.process = context.Process(target=self.serve, args=(ways, other, self.pipe), daemon=True)
        self.process.start()
        other.close()
        self.pipe.recv()

    @staticmethod
    def serve(ways, pipe, other):
        other.close()
        proxies = {name: Proxy(*way) for name, way in ways.items()}
        pipe.send(None)
        try:
            while True:
                name, act, *arguments = pipe.recv()
                getattr(proxies[name], act)(*arguments)
                pipe.send(None)
        except EOFError:
            pass

    def tell(self, name, act, *arguments):
        self.pipe.send((name, act, *arguments))
        self.pipe.recv()
