import Foundation
import GRDB
import NIOCore
import PushTypes

/// The table of event blocks.
struct EventTable {
    let database: Database

    /// Returns the last id that is reserved; 0 for none.
    func lastReserved() throws -> Int64 {
        // A newest block with events is of a version that reserved none: it may have given more ids than it wrote.
        let sql = "SELECT max(id) + iif(count = 0, -1, count + 49999) FROM eventBlock"
        return try Int64.fetchOne(self.database, sql: sql) ?? 0
    }

    /// Returns the id before which events are beyond the newest `limit`; 0 if there are no more than these.
    func oldest(of limit: Int) throws -> Int64 {
        let sql = """
            SELECT id + count FROM (SELECT id, count, sum(count) OVER (ORDER BY id DESC) - count AS newer FROM eventBlock)
            WHERE newer >= ? ORDER BY id DESC LIMIT 1
            """
        return try Int64.fetchOne(self.database, sql: sql, arguments: [limit]) ?? 0
    }

    /// Reserves the ids up to `id`: those after a start follow it. A block without events, the last one, keeps it.
    func reserve(upTo id: Int64) throws {
        try self.database.run("DELETE FROM eventBlock WHERE id = (SELECT max(id) FROM eventBlock) AND count = 0", [])
        try self.database.run("INSERT INTO eventBlock (id, lastTime, count, events) VALUES (?, 0, 0, x'')", [id + 1])
    }

    /// Writes events, which have consecutive ids, in blocks.
    func append(_ events: [Event]) throws {
        var rest = events[...]
        while let first = rest.first {
            let block = rest.prefix(EventBlockCoding.capacity)
            rest = rest.dropFirst(block.count)
            try self.database.run(
                "INSERT INTO eventBlock (id, lastTime, count, events) VALUES (?, ?, ?, ?)",
                [
                    first.id, block.last?.time.milliseconds ?? first.time.milliseconds, block.count,
                    Data(EventBlockCoding.encode(block).readableBytesView),
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
            arguments: [after &- Int64(EventBlockCoding.capacity), before]
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
            found += matching(EventBlockCoding.decode(blob, firstID: first)).prefix(limit - found.count)
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
            // The last block stays: it keeps the reserved ids.
            sql: """
                DELETE FROM eventBlock
                WHERE (id + count <= ? OR lastTime < ?) AND id < (SELECT max(id) FROM eventBlock)
                """,
            arguments: [oldest, since.milliseconds]
        )
    }
}
