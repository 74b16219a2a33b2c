import Dispatch
import Foundation
import NIOCore
import PushTesting
import PushTypes
import Synchronization
import Testing

@testable import PushGateway

/// The ids of events, which followers go by.
@Suite(.timeLimit(.patience)) struct EventLogTests {
    @Test func theIDsOfAKilledGatewayAreNotGivenAgain() async throws {
        try await Self.withLog { directory, killed in
            let seen = killed.stream.watch()
            killed.append(Self.events(3))
            var iterator = try #require(seen).events.makeAsyncIterator()
            let last = try #require(await iterator.next()?.last?.id)
            // None of them was written.
            let log = try Self.log(in: directory)
            #expect(log.lastID >= last)
            let feed = EventFeed(log: log, filter: EventFilter(), start: last)
            #expect(feed.start == last)
            let text = try await Self.text(of: feed) { log.append(Self.events(1)) }
            #expect(text.contains("id: \(log.lastID)\n"))
        }
    }

    @Test func theIDsGoOnAfterAnOrderlyEnd() async throws {
        try await Self.withLog { directory, ended in
            ended.append(Self.events(2))
            try await ended.end()
            let log = try Self.log(in: directory)
            #expect(ended.lastID == 2 && log.lastID == 2)
            log.append(Self.events(1))
            #expect(try await log.events(EventFilter(), after: 0, limit: 9).map(\.id) == [1, 2, 3])
            // The oldest block goes, and the ids stay.
            try await log.end()
            try await log.trim(now: Vectors.issuedAt.advanced(by: .seconds(365 * 86_400)))
            #expect(try await log.stored() == 0)
            #expect(try Self.log(in: directory).lastID == 3)
        }
    }

    @Test func whatIsDroppedHasNoID() async throws {
        try await Self.withDatabase { _, database in
            let log = try EventLog(database: database, limits: .init(), logger: silentLogger)
            // Nothing is written while the disk is busy.
            let busy = DispatchSemaphore(value: 0)
            database.commit { _ in
                busy.wait()
            } completion: { _ in
            }
            defer { busy.signal() }
            let events = Self.events(EventLog.maximumUnwritten / 2)
            for _ in 0..<3 { log.append(events) }
            #expect(log.lastID == Int64(EventLog.maximumUnwritten))
            #expect(log.backlog.dropped == events.count && log.backlog.waiting == EventLog.maximumUnwritten)
        }
    }

    @Test func aReaderOfAnotherLogGetsThisOneFromItsStart() async throws {
        try await Self.withLog { _, log in
            log.append(Self.events(2))
            let feed = EventFeed(log: log, filter: EventFilter(), start: 4711)
            let text = try await Self.text(of: feed) { log.append(Self.events(1)) }
            #expect(text.contains("id: 1\n") && text.contains("id: 2\n") && text.contains("id: 3\n"))
        }
    }

    /// Returns what a feed writes: what it has missed, and what comes while it watches.
    private static func text(of feed: EventFeed, while body: () -> Void) async throws -> String {
        let watcher = try #require(feed.log.stream.watch())
        body()
        watcher.end()
        let text = Mutex("")
        try await feed.run(watcher) { bytes in text.withLock { $0 += String(buffer: bytes) } }
        return text.withLock { $0 }
    }

    private static func events(_ count: Int) -> [Event] {
        Array(repeating: Event(.activated, device: UUID(), time: Vectors.issuedAt), count: count)
    }

    private static func log(in directory: String) throws -> EventLog {
        let database = try GatewayDatabase(path: "\(directory)/gateway.sqlite")
        return try EventLog(database: database, limits: .init(), logger: silentLogger)
    }

    private static func withLog(_ body: (String, EventLog) async throws -> Void) async throws {
        try await Self.withDatabase { directory, database in
            try await body(directory, try EventLog(database: database, limits: .init(), logger: silentLogger))
        }
    }

    private static func withDatabase(_ body: (String, GatewayDatabase) async throws -> Void) async throws {
        try await withTemporaryDirectory { directory in
            try await body(directory, try GatewayDatabase(path: "\(directory)/gateway.sqlite"))
        }
    }
}
