import Foundation
import GRDB
import Logging
import NIOCore
import NIOPosix
import PushTypes
import Synchronization

/// Everything that happened: in memory for a moment, then in SQLite in blocks, the oldest forgotten.
///
/// A killed gateway loses the events of the last ``flushInterval``; what they tell of is not lost by that.
final class EventLog: Sendable {
    struct Limits: Sendable {
        /// Events kept. Default 1,000,000 (about 100 bytes each).
        var events = 1_000_000
        /// Default 7 days, as in Apple's delivery log (reference 7.3).
        var age: Duration = .seconds(7 * 86_400)
    }

    static let flushInterval: TimeAmount = .milliseconds(250)
    /// Between the last id on disk and the first after a start: a killed gateway may have told watchers of some more.
    private static let idGap: Int64 = 50_000
    /// Events in memory before new ones are dropped, when the disk does not keep up.
    static let maximumUnwritten = 200_000

    private struct State {
        var nextID: Int64
        /// Not handed to the store yet.
        var fresh: [Event] = []
        /// Handed over, not committed yet.
        var writing: [Event] = []
        var isFlushScheduled = false
        var counts: [Int]
        var dropped = 0
    }

    let stream = EventStream()
    private let commit: GroupCommit
    private let database: any DatabaseReader
    let limits: Limits
    private let logger: Logger
    private let state: Mutex<State>

    init(database: any DatabaseWriter, commit: GroupCommit, limits: Limits, logger: Logger) throws {
        self.database = database
        self.commit = commit
        self.limits = limits
        self.logger = logger
        let lastID = try database.read { try EventTable(database: $0).lastID() }
        self.state = Mutex(
            State(nextID: lastID + (lastID == 0 ? 1 : Self.idGap), counts: Array(repeating: 0, count: 256 * 3))
        )
    }

    func append(_ event: Event) { self.append([event]) }

    func append(_ events: [Event]) {
        guard !events.isEmpty else { return }
        var numbered = events
        let (flushNow, schedule) = self.state.withLock { state in
            for index in numbered.indices {
                numbered[index].id = state.nextID
                state.nextID += 1
                state.counts[Self.slot(events[index])] += 1
            }
            // Under the lock, so that those who watch get the events in the order of their ids.
            self.stream.publish(numbered)
            guard state.fresh.count + state.writing.count < Self.maximumUnwritten else {
                state.dropped += numbered.count
                return (false, false)
            }
            state.fresh += numbered
            let isFull = state.fresh.count >= EventBlock.capacity && state.writing.isEmpty
            defer { state.isFlushScheduled = true }
            return (isFull, !state.isFlushScheduled)
        }
        if flushNow { self.flush() }
        if schedule { self.scheduleFlush() }
    }

    /// How often each event happened since the gateway was started.
    func counts() -> [(environment: PushEnvironment?, name: Event.Name, count: Int)] {
        let counts = self.state.withLock { $0.counts }
        let environments: [PushEnvironment?] = [nil, .sandbox, .production]
        return environments.flatMap { environment in
            Event.Name.allCases.map { name in
                (environment, name, counts[Self.slot(name, environment)])
            }
        }
    }

    /// Events not kept because the disk did not keep up, and those that wait for it.
    var backlog: (dropped: Int, waiting: Int) {
        self.state.withLock { ($0.dropped, $0.fresh.count + $0.writing.count) }
    }

    /// The id of the newest event.
    var lastID: Int64 { self.state.withLock { $0.nextID } - 1 }

    /// Events that match and are newer than `id`, oldest first.
    func events(_ filter: EventFilter, after id: Int64, limit: Int) async throws -> [Event] {
        let recent = self.state.withLock { $0.writing + $0.fresh }
        let before = recent.first?.id ?? .max
        let stored = try await self.database.read {
            try EventTable(database: $0).events(filter, after: id, before: before, limit: limit)
        }
        return stored + recent.lazy.filter { $0.id > id && filter.matches($0) }.prefix(limit - stored.count)
    }

    /// Events that are on disk.
    func stored() async throws -> Int { try await self.database.read { try EventTable(database: $0).count() } }

    /// Events that match, newest first.
    func events(_ filter: EventFilter, limit: Int) async throws -> [Event] {
        let recent = self.state.withLock { $0.writing + $0.fresh }
        let found = Array(recent.reversed().lazy.filter(filter.matches).prefix(limit))
        guard found.count < limit else { return found }
        let before = recent.first?.id ?? .max
        let rest = limit - found.count
        return found
            + (try await self.database.read { try EventTable(database: $0).events(filter, before: before, limit: rest) })
    }

    /// Hands everything to the store.
    func flush() {
        let events: [Event] = self.state.withLock { state in
            guard state.writing.isEmpty else { return [] }
            state.writing = state.fresh
            state.fresh = []
            return state.writing
        }
        guard !events.isEmpty else { return }
        self.commit.add {
            try EventTable(database: $0).append(events)
        } completion: { result in
            if case .failure(let error) = result {
                self.logger.error(
                    "events could not be stored",
                    metadata: ["error": "\(error)", "events": "\(events.count)"]
                )
            }
            let (isFull, schedule) = self.state.withLock { state in
                state.writing = []
                if case .failure = result { state.dropped += events.count }
                // A flush that came meanwhile found these on their way and left the others.
                let schedule = !state.fresh.isEmpty && !state.isFlushScheduled
                if schedule { state.isFlushScheduled = true }
                return (state.fresh.count >= EventBlock.capacity, schedule)
            }
            if isFull { self.flush() }
            if schedule { self.scheduleFlush() }
        }
    }

    /// Writes what is left, and ends what watches. Nothing may follow.
    func end() async throws {
        while self.backlog.waiting > 0 {
            self.flush()
            try await self.commit.write { _ in }
        }
        self.stream.finish()
    }

    /// Forgets what is too old or too much. Called from time to time.
    func trim(now: Timestamp) async throws {
        let newest = self.state.withLock { $0.nextID }
        let (limits, oldest) = (self.limits, newest - Int64(self.limits.events))
        let since = Timestamp(milliseconds: now.milliseconds - Int64(limits.age.components.seconds) * 1000)
        try await self.commit.write { try EventTable(database: $0).trim(before: oldest, since: since) }
    }

    private func scheduleFlush() {
        MultiThreadedEventLoopGroup.singleton.any().scheduleTask(in: Self.flushInterval) {
            self.state.withLock { $0.isFlushScheduled = false }
            self.flush()
        }
    }

    private static func slot(_ event: Event) -> Int { Self.slot(event.name, event.environment) }

    private static func slot(_ name: Event.Name, _ environment: PushEnvironment?) -> Int {
        let base =
            switch environment {
            case nil: 0
            case .sandbox: 256
            case .production: 512
            }
        return base + Int(name.rawValue)
    }
}
