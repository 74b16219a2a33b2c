import Foundation
import GRDB
import NIOCore
import PushTypes

/// The table of event blocks.
struct EventTable {
    let database: Database

    /// Returns the id of the newest event on disk; 0 if there is none.
    func lastID() throws -> Int64 {
        let row = try Row.fetchOne(self.database, sql: "SELECT id, count FROM eventBlock ORDER BY id DESC LIMIT 1")
        guard let row, let first = row["id"] as Int64?, let count = row["count"] as Int64? else { return 0 }
        return first &+ count &- 1
    }

    /// Writes events, which have their ids, in blocks.
    func append(_ events: [Event]) throws {
        var rest = events[...]
        while let first = rest.first {
            // Ids within a block are consecutive; there are gaps where events were dropped.
            let start = rest.startIndex
            let end = rest.indices.first { rest[$0].id != first.id + Int64($0 - start) } ?? rest.endIndex
            let block = rest[start..<end].prefix(EventBlock.capacity)
            rest = rest.dropFirst(block.count)
            try self.database.run(
                "INSERT INTO eventBlock (id, lastTime, count, events) VALUES (?, ?, ?, ?)",
                [
                    first.id, block.last?.time.milliseconds ?? first.time.milliseconds, block.count,
                    Data(EventBlock.encode(block).readableBytesView),
                ]
            )
        }
    }

    /// Returns the newest `limit` matching events with ids below `before`, newest first.
    func events(_ filter: EventFilter, before: Int64, limit: Int) throws -> [Event] {
        let rows = try Row.fetchCursor(
            self.database,
            sql: "SELECT id, events FROM eventBlock WHERE id < ? ORDER BY id DESC",
            arguments: [before]
        )
        return try Self.events(in: rows, limit: limit) { block in
            block.reversed().lazy.filter { $0.id < before && filter.matches($0) }.prefix(limit)
        }
    }

    /// Returns the oldest `limit` matching events with ids above `after` and below `before`, oldest first.
    func events(_ filter: EventFilter, after: Int64, before: Int64, limit: Int) throws -> [Event] {
        // A block that begins before `after` may reach beyond it.
        let rows = try Row.fetchCursor(
            self.database,
            sql: "SELECT id, events FROM eventBlock WHERE id > ? AND id < ? ORDER BY id",
            arguments: [after &- Int64(EventBlock.capacity), before]
        )
        return try Self.events(in: rows, limit: limit) { block in
            block.lazy.filter { $0.id > after && $0.id < before && filter.matches($0) }.prefix(limit)
        }
    }

    private static func events(
        in rows: RowCursor,
        limit: Int,
        matching: ([Event]) -> some Sequence<Event>
    ) throws -> [Event] {
        var found: [Event] = []
        while found.count < limit, let row = try rows.next() {
            guard let first = row["id"] as Int64?, let blob = row["events"] as Data? else { continue }
            found += matching(EventBlock.decode(blob, firstID: first)).prefix(limit - found.count)
        }
        return found
    }

    /// Returns the number of events on disk.
    func count() throws -> Int {
        try self.database.integer("SELECT coalesce(sum(count), 0) FROM eventBlock") ?? 0
    }

    /// Removes the blocks whose events all have ids below `oldest` or are older than `since`.
    func trim(before oldest: Int64, since: Timestamp) throws {
        try self.database.execute(
            // The last block stays: new ids continue after it.
            sql: """
                DELETE FROM eventBlock
                WHERE (id + count <= ? OR lastTime < ?) AND id < (SELECT max(id) FROM eventBlock)
                """,
            arguments: [oldest, since.milliseconds]
        )
    }
}
