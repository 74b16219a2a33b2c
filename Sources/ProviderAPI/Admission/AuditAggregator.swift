import Foundation

/// Merges refused requests for the audit: of each key, action and status one entry a minute with a count, and so many
/// entries of a key. A value without I/O; time is passed in.
struct AuditAggregator {
    struct Kind: Hashable {
        var action: String
        var status: Int
    }

    /// The action for a refusal.
    enum Step: Equatable {
        /// Write an entry, and say its id to ``wrote(_:as:of:)``.
        case write(Kind)
        /// Write the count of an entry that is there.
        case count(Int, entry: Int64)
        /// It is counted; the entry will say so later.
        case nothing
    }

    /// Entries of one key in a minute, without the one for all the others.
    static let maximumKinds = 10
    /// For how long refusals go into one entry.
    static let window: Duration = .seconds(60)
    /// Stands for the actions of a key that have no entry of their own.
    static let others = "further refused requests"
    /// Keys that are remembered.
    private static let maximumKeys = 1000

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
    /// Of entries whose minute is over.
    private var owed: [Int64: Int] = [:]

    mutating func add(_ kind: Kind, of key: UUID, now: ContinuousClock.Instant) -> Step {
        self.forget(now)
        var minute = self.minutes[key] ?? Minute(began: now)
        var kind = kind
        if minute.entries[kind] == nil, minute.entries.count >= Self.maximumKinds {
            kind = Kind(action: Self.others, status: kind.status / 100 * 100)
        }
        defer { self.minutes[key] = minute }
        guard var entry = minute.entries[kind] else {
            minute.entries[kind] = Entry()
            return .write(kind)
        }
        entry.count += 1
        defer { minute.entries[kind] = entry }
        // Twice as many as the entry says: few writes, and never far from the truth.
        guard let id = entry.id, entry.count >= 2 * entry.written else { return .nothing }
        entry.written = entry.count
        return .count(entry.count, entry: id)
    }

    mutating func wrote(_ kind: Kind, as id: Int64, of key: UUID) {
        self.minutes[key]?.entries[kind]?.id = id
    }

    /// An entry could not be written: the next refusal tries again.
    mutating func failed(_ kind: Kind, of key: UUID) {
        self.minutes[key]?.entries[kind] = nil
    }

    /// The counts that entries lack.
    mutating func takeOwed(now: ContinuousClock.Instant) -> [Int64: Int] {
        self.forget(now)
        for key in self.minutes.keys {
            for (kind, entry) in self.minutes[key]?.entries ?? [:] where entry.count > entry.written {
                guard let id = entry.id else { continue }
                self.owed[id] = entry.count
                self.minutes[key]?.entries[kind]?.written = entry.count
            }
        }
        defer { self.owed = [:] }
        return self.owed
    }

    private mutating func forget(_ now: ContinuousClock.Instant) {
        let isFull = self.minutes.count >= Self.maximumKeys
        for (key, minute) in self.minutes where isFull || now >= minute.began + Self.window {
            for entry in minute.entries.values where entry.count > entry.written {
                if let id = entry.id { self.owed[id] = entry.count }
            }
            self.minutes[key] = nil
        }
    }
}
