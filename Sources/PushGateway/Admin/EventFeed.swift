import Hummingbird
import NIOCore
import PushHTTP
import PushSupport
import ServiceLifecycle

/// A live stream of events, in the form of server-sent events (WHATWG HTML section 9.2).
///
/// Events that a client missed, because it was disconnected or slow, are read from the log as long as the log keeps
/// them.
struct EventFeed: Sendable {
    typealias Write = @concurrent (ByteBuffer) async throws -> Void

    /// The time without events after which a comment is sent to keep the connection alive. Default 15 s.
    var keepAlive: Duration = .seconds(15)
    /// The maximum number of events that are read from the log at a time.
    private static let page = 500

    let log: EventLog
    let filter: EventFilter
    /// The id after which the feed begins: only events with higher ids are sent.
    let start: Int64
    /// The id of the first event that is published to the watcher. The log contains all earlier events.
    private let first: Int64

    /// Creates a feed for one client.
    /// - Parameter start: The id after which the client wants events. An id that the log has not assigned yet comes
    ///   from another log, such as that of a data directory that was removed. The feed then sends all events.
    init(log: EventLog, filter: EventFilter, start: Int64) {
        let last = log.lastID
        (self.log, self.filter, self.first) = (log, filter, last + 1)
        self.start = start > last ? 0 : start
    }

    /// Returns the response that streams the events until the client disconnects or the gateway shuts down.
    /// - Throws: ``RequestError`` if too many streams are open.
    func response(to request: Request) throws -> Response {
        guard let watcher = self.log.stream.watch() else {
            throw RequestError(
                .unavailable,
                code: "too_many_watchers",
                message: "at most \(EventStream.maximumWatchers) event streams can be open"
            )
        }
        return Response(
            status: .ok,
            headers: [.contentType: "text/event-stream", .cacheControl: "no-store"],
            body: .init { writer in
                try await withGracefulShutdownHandler {
                    try await request.body.consumeWithInboundCloseHandler { _ in
                        try await self.run(watcher) { try await writer.write($0) }
                    } onInboundClosed: {
                        watcher.end()
                    }
                } onGracefulShutdown: {
                    watcher.end()
                }
                try await writer.finish(nil)
            }
        )
    }

    /// Writes events until the watcher's stream finishes, and comments at the interval ``keepAlive``.
    @concurrent func run(_ watcher: EventStream.Watcher, write: Write) async throws {
        let keepAlive = self.keepAlive
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                while true {
                    try await Task.sleep(for: keepAlive)
                    watcher.remind()
                }
            }
            defer { group.cancelAll() }
            try await write(ByteBuffer(string: ": events follow\n\n"))
            try await self.pass(watcher.events, write: write)
        }
    }

    @concurrent private func pass(_ groups: AsyncStream<[Event]>, write: Write) async throws {
        var last = try await self.replay(after: self.start, write: write)
        var next = self.first
        for await events in groups {
            guard let first = events.first, let newest = events.last else {
                try await write(ByteBuffer(string: ": nothing new\n\n"))
                continue
            }
            if first.id > next { last = try await self.replay(after: last, write: write) }
            next = newest.id + 1
            try await self.send(events.filter { $0.id > last && self.filter.matches($0) }, write: write)
            last = max(last, newest.id)
        }
    }

    /// Writes events from the log, beginning after `start`, and returns the id of the last one.
    @concurrent private func replay(after start: Int64, write: Write) async throws -> Int64 {
        var last = start
        while true {
            let events = try await self.log.events(self.filter, after: last, limit: Self.page)
            try await self.send(events, write: write)
            last = events.last?.id ?? last
            guard events.count == Self.page else { return last }
        }
    }

    @concurrent private func send(_ events: [Event], write: Write) async throws {
        guard !events.isEmpty else { return }
        var buffer = ByteBuffer()
        for event in events {
            buffer.writeString("id: \(event.id)\nevent: \(event.name.code)\ndata: ")
            buffer.writeBytes(try event.json.text)
            buffer.writeString("\n\n")
        }
        try await write(buffer)
    }
}
