import Foundation

/// A state machine without I/O that aggregates failed requests, or frequent changes, for the audit trail. For each
/// caller, action and status, there is one entry per minute, with a count. The number of a caller's entries per minute
/// is limited.
struct AuditAggregator {
    /// The kind of requests that share an entry.
    struct Kind: Hashable {
        var action: String
        var status: Int
    }

    /// The write to the store that the caller of ``add(_:of:now:)`` must perform.
    enum Step: Equatable {
        /// Write an entry, and call ``written(_:as:of:)`` with its id.
        case write(Kind)
        /// Write the first value as the count of an existing entry.
        case count(Int, entry: Int64)
        /// Write nothing now, because the count is written later.
        case none
    }

    /// The maximum number of entries of one caller per minute. All further requests share one entry for each class of
    /// status, such as 4xx.
    static let maximumKinds = 10
    /// The time within which equal requests share an entry.
    static let window: Duration = .seconds(60)
    /// The action of the entry that aggregates all further failed requests.
    static let others = "further refused requests"
    /// The action of the entry that aggregates all further changes.
    static let otherChanges = "further changes"
    /// The maximum number of callers whose counts are kept in memory. If it is reached, the current minute ends early
    /// for all of them.
    private static let maximumKeys = 1000

    /// An audit entry, with its current count and the count that was last written to the store.
    private struct Entry {
        var id: Int64?
        var count = 1
        var written = 1
    }

    private struct Minute {
        var began: ContinuousClock.Instant
        var entries: [Kind: Entry] = [:]
    }

    private var minutes: [UUID: Minute] = [:]
    /// The counts of entries whose minute has ended, by the id of the entry. ``takePending(now:)`` returns them.
    private var pending: [Int64: Int] = [:]

    /// Counts a request, and returns the write to the store that it requires.
    mutating func add(_ kind: Kind, of key: UUID, now: ContinuousClock.Instant) -> Step {
        self.forget(now)
        var minute = self.minutes[key] ?? Minute(began: now)
        var kind = kind
        if minute.entries[kind] == nil, minute.entries.count >= Self.maximumKinds {
            kind = Kind(action: kind.status >= 400 ? Self.others : Self.otherChanges, status: kind.status / 100 * 100)
        }
        defer { self.minutes[key] = minute }
        guard var entry = minute.entries[kind] else {
            minute.entries[kind] = Entry()
            return .write(kind)
        }
        entry.count += 1
        defer { minute.entries[kind] = entry }
        // A count is written only when it has doubled. Thus writes are few, and stored counts are at least half of the
        // actual ones.
        guard let id = entry.id, entry.count >= 2 * entry.written else { return .none }
        entry.written = entry.count
        return .count(entry.count, entry: id)
    }

    /// Stores the id of the entry that the caller has written to the store, so that its later counts can be written.
    mutating func written(_ kind: Kind, as id: Int64, of key: UUID) { self.minutes[key]?.entries[kind]?.id = id }

    /// Records that an entry could not be written, and drops its count. The next equal request is another attempt.
    mutating func writeFailed(_ kind: Kind, of key: UUID) { self.minutes[key]?.entries[kind] = nil }

    /// Removes and returns the counts that have not been written to the store, by the id of the entry.
    mutating func takePending(now: ContinuousClock.Instant) -> [Int64: Int] {
        self.forget(now)
        for key in self.minutes.keys {
            for (kind, entry) in self.minutes[key]?.entries ?? [:] where entry.count > entry.written {
                guard let id = entry.id else { continue }
                self.pending[id] = entry.count
                self.minutes[key]?.entries[kind]?.written = entry.count
            }
        }
        defer { self.pending = [:] }
        return self.pending
    }

    /// Moves the counts of minutes that have ended to ``pending``. With ``maximumKeys`` callers, all are moved.
    private mutating func forget(_ now: ContinuousClock.Instant) {
        let isFull = self.minutes.count >= Self.maximumKeys
        for (key, minute) in self.minutes where isFull || now >= minute.began + Self.window {
            for entry in minute.entries.values where entry.count > entry.written {
                if let id = entry.id { self.pending[id] = entry.count }
            }
            self.minutes[key] = nil
        }
    }
}
