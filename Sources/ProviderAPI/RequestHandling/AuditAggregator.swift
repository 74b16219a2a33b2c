import Foundation

/// Aggregates failed requests, or frequent changes, for the audit.
///
/// For each caller, action and status there is one entry a minute, with a count. The number of entries of a caller in a
/// minute is limited. This is a state machine: a value without I/O that takes the time as an argument.
struct AuditAggregator {
    /// The kind of requests that share an entry.
    struct Kind: Hashable {
        var action: String
        var status: Int
    }

    /// The action that the caller of ``add(_:of:now:)`` has to take.
    enum Step: Equatable {
        /// Write an entry, and call ``written(_:as:of:)`` with its id.
        case write(Kind)
        /// Write the count of an existing entry.
        case count(Int, entry: Int64)
        /// Do nothing: the count is written later.
        case none
    }

    /// The maximum number of entries of one key in a minute, besides the one for all further requests.
    static let maximumKinds = 10
    /// The time during which equal requests share an entry.
    static let window: Duration = .seconds(60)
    /// The action of the entry for all other failed requests.
    static let others = "further refused requests"
    /// The action of the entry for all other changes.
    static let otherChanges = "further changes"
    /// The maximum number of keys with counts in memory.
    private static let maximumKeys = 1000

    /// An audit entry, with the current count and the count that was last written.
    private struct Entry {
        var id: Int64?
        var count = 1
        var written = 1
    }

    /// The entries of one key in one minute.
    private struct Minute {
        var began: ContinuousClock.Instant
        var entries: [Kind: Entry] = [:]
    }

    private var minutes: [UUID: Minute] = [:]
    /// The counts of entries whose minute is over.
    private var pending: [Int64: Int] = [:]

    /// Counts a request, and returns the write that it requires.
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
        // Writing the count only when it has doubled keeps writes few, and stored counts at least half of the real
        // ones.
        guard let id = entry.id, entry.count >= 2 * entry.written else { return .none }
        entry.written = entry.count
        return .count(entry.count, entry: id)
    }

    /// Notes the id of an entry that was written.
    mutating func written(_ kind: Kind, as id: Int64, of key: UUID) { self.minutes[key]?.entries[kind]?.id = id }

    /// Notes that an entry could not be written. The next equal request tries again.
    mutating func writeFailed(_ kind: Kind, of key: UUID) { self.minutes[key]?.entries[kind] = nil }

    /// Returns the counts that have not been written, by the id of the entry.
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

    /// Moves the counts of minutes that are over to the pending ones. If there are too many keys, it moves those of all
    /// minutes.
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
