import Logging
import NIOCore
import NIOPosix
import PushTypes
import Synchronization

/// The log of events. Events are written to the database in blocks, at the latest after ``flushInterval``. The oldest
/// events are removed when the log exceeds its limits.
///
/// A killed gateway loses the events of the last interval, but none of the changes that they describe.
final class EventLog: Sendable {
    /// The maximum time for which an event is only in memory before it is written to the database.
    static let flushInterval: TimeAmount = .milliseconds(250)
    /// The maximum number of events that are not on disk yet. Further ones are dropped.
    static let maximumUnwritten = 200_000
    /// The number of event ids that are reserved on disk in advance. Only reserved ids are assigned: a killed gateway
    /// may have published events that it had not written, and the ids after its restart must be higher.
    private static let reservation: Int64 = 300_000
    /// The threshold of remaining reserved ids below which the next block reserves further ids.
    private static let minimumReserved: Int64 = 250_000

    private struct State {
        var nextID: Int64
        var reserved: Int64
        var fresh: [Event] = []
        var writing: [Event] = []
        var isFlushScheduled = false
        var counts: [Int]
        var dropped = 0
    }

    let stream = EventStream()
    private let database: GatewayDatabase
    let limits: GatewayConfiguration.Limits
    private let logger: Logger
    private let state: Mutex<State>

    init(database: GatewayDatabase, limits: GatewayConfiguration.Limits, logger: Logger) throws {
        (self.database, self.limits, self.logger) = (database, limits, logger)
        let last = try database.read { try $0.events.lastReserved() }
        var reserved = last + Self.reservation
        do {
            try database.write { try $0.events.reserve(upTo: reserved) }
        } catch {
            // The next block reserves ids again. Until then events are dropped.
            logger.error("no ids of events could be reserved", metadata: ["error": "\(error)"])
            reserved = last
        }
        self.state = Mutex(State(nextID: last + 1, reserved: reserved, counts: Array(repeating: 0, count: 256 * 3)))
    }

    func append(_ event: Event) { self.append([event]) }

    func append(_ events: [Event]) {
        guard !events.isEmpty else { return }
        var numbered = events
        let (flushNow, schedule) = self.state.withLock { state in
            for event in events { state.counts[Self.slot(event)] += 1 }
            defer { state.isFlushScheduled = true }
            let isFull = state.fresh.count + state.writing.count >= Self.maximumUnwritten
            let room = isFull ? 0 : Int(state.reserved - state.nextID + 1)
            // A dropped event has no id and no watcher: an id that was seen is never given again.
            let excess = max(0, events.count - room)
            state.dropped += excess
            numbered.removeLast(excess)
            guard !numbered.isEmpty else { return (false, !state.isFlushScheduled) }
            for index in numbered.indices {
                numbered[index].id = state.nextID
                state.nextID += 1
            }
            // Under the lock, so that watchers get the events in the order of their ids.
            self.stream.publish(numbered)
            state.fresh += numbered
            let isBlock = state.fresh.count >= EventBlockCoding.capacity && state.writing.isEmpty
            return (isBlock, !state.isFlushScheduled)
        }
        if flushNow { self.flush() }
        if schedule { self.scheduleFlush() }
    }

    /// Returns the number of events since the gateway was started, for each environment and name.
    func counts() -> [(environment: PushEnvironment?, name: Event.Name, count: Int)] {
        let counts = self.state.withLock { $0.counts }
        let environments: [PushEnvironment?] = [nil, .sandbox, .production]
        return environments.flatMap { environment in
            Event.Name.allCases.map { name in
                (environment, name, counts[Self.slot(name, environment)])
            }
        }
    }

    /// The number of events that were dropped because the disk was too slow, and of those that are not on disk yet.
    var backlog: (dropped: Int, waiting: Int) {
        self.state.withLock { ($0.dropped, $0.fresh.count + $0.writing.count) }
    }

    var lastID: Int64 { self.state.withLock { $0.nextID } - 1 }

    /// Returns at most `limit` matching events with ids above `id`: the oldest of them, in ascending order.
    func events(_ filter: EventFilter, after id: Int64, limit: Int) async throws -> [Event] {
        let recent = self.state.withLock { $0.writing + $0.fresh }
        let before = recent.first?.id ?? .max
        let stored = try await self.database.read {
            try $0.events.events(filter, after: id, before: before, limit: limit)
        }
        return stored + recent.lazy.filter { $0.id > id && filter.matches($0) }.prefix(limit - stored.count)
    }

    func stored() async throws -> Int { try await self.database.read { try $0.events.count() } }

    /// Returns the newest `limit` matching events, newest first.
    func events(_ filter: EventFilter, limit: Int) async throws -> [Event] {
        let recent = self.state.withLock { $0.writing + $0.fresh }
        let found = Array(recent.reversed().lazy.filter(filter.matches).prefix(limit))
        guard found.count < limit else { return found }
        let before = recent.first?.id ?? .max
        let rest = limit - found.count
        return found
            + (try await self.database.read { try $0.events.events(filter, before: before, limit: rest) })
    }

    /// Passes all events in memory to the database, and reserves further event ids.
    func flush() {
        let (events, reserved): ([Event], Int64?) = self.state.withLock { state in
            guard state.writing.isEmpty else { return ([], nil) }
            state.writing = state.fresh
            state.fresh = []
            let isShort = state.reserved - state.nextID < Self.minimumReserved
            return (state.writing, isShort ? state.nextID + Self.reservation : nil)
        }
        guard !events.isEmpty || reserved != nil else { return }
        self.database.commit {
            try $0.events.append(events)
            if let reserved { try $0.events.reserve(upTo: reserved) }
        } completion: { result in
            if case .failure(let error) = result, !events.isEmpty {
                self.logger.error(
                    "events could not be stored",
                    metadata: ["error": "\(error)", "events": "\(events.count)"]
                )
            }
            let (isFull, schedule) = self.state.withLock { state in
                // A write that only reserves ids may complete while another one is writing events.
                if !events.isEmpty { state.writing = [] }
                switch result {
                case .success: state.reserved = max(state.reserved, reserved ?? 0)
                case .failure: state.dropped += events.count
                }
                // A flush that was called during this write did nothing for the events that arrived since, so another
                // one is scheduled.
                let schedule = !state.fresh.isEmpty && !state.isFlushScheduled
                if schedule { state.isFlushScheduled = true }
                return (state.fresh.count >= EventBlockCoding.capacity, schedule)
            }
            if isFull { self.flush() }
            if schedule { self.scheduleFlush() }
        }
    }

    /// Writes the remaining events and finishes the event streams. No event may be added afterwards.
    func end() async throws {
        while self.backlog.waiting > 0 {
            self.flush()
            try await self.database.flush()
        }
        // No further id is assigned, so the reservation ends at the last one: the next start continues without a gap.
        let last = self.lastID
        do {
            try await self.database.commit { try $0.events.reserve(upTo: last) }
        } catch {
            self.logger.error("the ids of events will have a gap", metadata: ["error": "\(error)"])
        }
        self.stream.finish()
    }

    /// Removes the events that exceed ``limits``. This method is called at intervals.
    func trim(now: Timestamp) async throws {
        let limits = self.limits
        // Events are counted, because reserved ids may have none. All blocks are read, hence outside of the write.
        let oldest = try await self.database.read { try $0.events.oldest(of: limits.events) }
        let since = Timestamp(milliseconds: now.milliseconds - Int64(limits.eventAge.components.seconds) * 1000)
        try await self.database.commit { try $0.events.trim(before: oldest, since: since) }
    }

    private func scheduleFlush() {
        MultiThreadedEventLoopGroup.singleton.any().scheduleTask(in: Self.flushInterval) {
            self.state.withLock { $0.isFlushScheduled = false }
            self.flush()
        }
    }

    private static func slot(_ event: Event) -> Int { Self.slot(event.name, event.environment) }

    private static func slot(_ name: Event.Name, _ environment: PushEnvironment?) -> Int {
        Int(environment?.code ?? 0) * 256 + Int(name.rawValue)
    }
}
