import Foundation
import GRDB
import NIOCore
import PushTypes

/// Which events are wanted: those that have all that is named here.
struct EventFilter: Hashable, Sendable {
    var device: UUID?
    var environment: PushEnvironment?
    /// Compared without regard to letter case.
    var apnsID: String?
    var topic: String?

    func matches(_ event: Event) -> Bool {
        if let device, event.device != device { return false }
        if let environment, event.environment != environment { return false }
        if let topic, event.topic != topic { return false }
        if let apnsID {
            guard let id = event.apnsID, id.count == apnsID.count, id.lowercased() == apnsID.lowercased() else {
                return false
            }
        }
        return true
    }
}

/// The table of event blocks.
struct EventTable {
    let database: Database

    func lastID() throws -> Int64 {
        let row = try Row.fetchOne(self.database, sql: "SELECT id, count FROM eventBlock ORDER BY id DESC LIMIT 1")
        guard let row, let first = row["id"] as Int64?, let count = row["count"] as Int64? else { return 0 }
        return first &+ count &- 1
    }

    func append(_ events: [Event]) throws {
        var rest = events[...]
        while let first = rest.first {
            // Ids within a block are consecutive; there are gaps where events were dropped.
            let start = rest.startIndex
            let end = rest.indices.first { rest[$0].id != first.id + Int64($0 - start) } ?? rest.endIndex
            let block = rest[start..<end].prefix(EventBlock.capacity)
            rest = rest.dropFirst(block.count)
            try self.database.execute(
                sql: "INSERT INTO eventBlock (id, lastTime, count, events) VALUES (?, ?, ?, ?)",
                arguments: [
                    first.id, block.last?.time.milliseconds ?? first.time.milliseconds, block.count,
                    Data(EventBlock.encode(block).readableBytesView),
                ]
            )
        }
    }

    /// Newest first, among the events with ids below `before`.
    func events(_ filter: EventFilter, before: Int64, limit: Int) throws -> [Event] {
        var found: [Event] = []
        let rows = try Row.fetchCursor(
            self.database,
            sql: "SELECT id, events FROM eventBlock WHERE id < ? ORDER BY id DESC",
            arguments: [before]
        )
        while found.count < limit, let row = try rows.next() {
            guard let first = row["id"] as Int64?, let blob = row["events"] as Data? else { continue }
            let matching = EventBlock.decode(blob, firstID: first).reversed().lazy
                .filter { $0.id < before && filter.matches($0) }
            found += matching.prefix(limit - found.count)
        }
        return found
    }

    /// Oldest first, among the events with ids above `after` and below `before`.
    func events(_ filter: EventFilter, after: Int64, before: Int64, limit: Int) throws -> [Event] {
        var found: [Event] = []
        // A block that begins before `after` may reach beyond it.
        let rows = try Row.fetchCursor(
            self.database,
            sql: "SELECT id, events FROM eventBlock WHERE id > ? AND id < ? ORDER BY id",
            arguments: [after &- Int64(EventBlock.capacity), before]
        )
        while found.count < limit, let row = try rows.next() {
            guard let first = row["id"] as Int64?, let blob = row["events"] as Data? else { continue }
            let matching = EventBlock.decode(blob, firstID: first).lazy
                .filter { $0.id > after && $0.id < before && filter.matches($0) }
            found += matching.prefix(limit - found.count)
        }
        return found
    }

    func count() throws -> Int {
        try Int.fetchOne(self.database, sql: "SELECT coalesce(sum(count), 0) FROM eventBlock") ?? 0
    }

    func trim(before oldest: Int64, since: Timestamp) throws {
        try self.database.execute(
            // The last block stays: it says which ids were given.
            sql: """
                DELETE FROM eventBlock
                WHERE (id + count <= ? OR lastTime < ?) AND id < (SELECT max(id) FROM eventBlock)
                """,
            arguments: [oldest, since.milliseconds]
        )
    }
}
