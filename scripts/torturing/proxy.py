"""A way between provider and push service that can be disturbed."""

import asyncio
import threading


class Line:
    """One connection through the proxy. What is read while nothing passes is kept, as a network without loss would."""

    def __init__(self, proxy, reader, writer):
        self.proxy, self.reader, self.writer, self.is_half_closed = proxy, reader, writer, False

    async def run(self, port):
        if self.proxy.is_partitioned:
            return self.writer.transport.abort()
        try:
            self.far_reader, self.far_writer = await asyncio.open_connection("127.0.0.1", port)
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
    """Listens at one port; where it leads may change."""

    def __init__(self, target):
        self.target, self.lines, self.is_partitioned = target, set(), False
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_forever, daemon=True).start()
        self.port = self.run(self.open())

    def run(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(20)

    async def open(self):
        self.passes = asyncio.Event()
        self.passes.set()
        server = await asyncio.start_server(
            lambda reader, writer: Line(self, reader, writer).run(self.target), "127.0.0.1", 0)
        return server.sockets[0].getsockname()[1]

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
