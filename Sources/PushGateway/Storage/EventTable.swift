import Foundation
import GRDB
import NIOCore
import PushTypes

struct EventTable {
    let database: Database

    /// Returns the highest id that is reserved, or 0 if there is none.
    func lastReserved() throws -> Int64 {
        // A newest block with events is of a version that reserved none: it may have given more ids than it wrote.
        let sql = "SELECT max(id) + iif(count = 0, -1, count + 49999) FROM eventBlock"
        return try Int64.fetchOne(self.database, sql: sql) ?? 0
    }

    /// Returns an id below which all events are older than the newest `limit` events, or 0 if there are no older ones.
    func oldest(of limit: Int) throws -> Int64 {
        let sql = """
            SELECT id + count FROM (SELECT id, count, sum(count) OVER (ORDER BY id DESC) - count AS newer FROM eventBlock)
            WHERE newer >= ? ORDER BY id DESC LIMIT 1
            """
        return try Int64.fetchOne(self.database, sql: sql, arguments: [limit]) ?? 0
    }

    /// Reserves the ids up to `id`, so that those after a restart are higher. An empty last block stores `id`.
    func reserve(upTo id: Int64) throws {
        try self.database.run("DELETE FROM eventBlock WHERE id = (SELECT max(id) FROM eventBlock) AND count = 0", [])
        try self.database.run("INSERT INTO eventBlock (id, lastTime, count, events) VALUES (?, 0, 0, x'')", [id + 1])
    }

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

    /// Returns at most `limit` matching events with ids below `before`, newest first.
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

    /// Returns the matching events with ids above `after` and below `before`, oldest first, at most `limit`.
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

    func count() throws -> Int { try self.database.integer("SELECT coalesce(sum(count), 0) FROM eventBlock") ?? 0 }

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

/// Encodes many events as one blob, so that one row of the table replaces a thousand.
///
/// The fields of an event, with their lengths in bytes: name (1), environment (1, or 0 if there is none), time (8, ms),
/// device (16), topic (2 + n), apns-id (1 + n). A length of 0 stands for `nil`. Ids are consecutive from the block's
/// first.
enum EventBlockCoding {
    /// The maximum number of events in one block. Further ones begin another block.
    static let capacity = 1024

    static func encode(_ events: ArraySlice<Event>) -> ByteBuffer {
        var buffer = ByteBuffer()
        buffer.reserveCapacity(events.count * 96)
        for event in events {
            buffer.writeMultipleIntegers(event.name.rawValue, event.environment?.code ?? 0, event.time.milliseconds)
            withUnsafeBytes(of: event.device.uuid) { _ = buffer.writeBytes($0) }
            let topic = event.topic?.utf8.prefix(Int(UInt16.max))
            buffer.writeInteger(UInt16(topic?.count ?? 0))
            if let topic { buffer.writeBytes(topic) }
            let apnsID = event.apnsID?.utf8.prefix(Int(UInt8.max))
            buffer.writeInteger(UInt8(apnsID?.count ?? 0))
            if let apnsID { buffer.writeBytes(apnsID) }
        }
        return buffer
    }

    /// Decodes the events of a block, up to the first that cannot be read.
    static func decode(_ blob: Data, firstID: Int64) -> [Event] {
        var buffer = ByteBuffer(bytes: blob)
        var events: [Event] = []
        while let event = Self.read(&buffer, id: firstID &+ Int64(events.count)) { events.append(event) }
        return events
    }

    private static func read(_ buffer: inout ByteBuffer, id: Int64) -> Event? {
        guard let head = buffer.readMultipleIntegers(as: (UInt8, UInt8, Int64).self),
            let name = Event.Name(rawValue: head.0),
            let device = buffer.readSlice(length: 16).flatMap(Self.uuid),
            let topic = buffer.readLengthPrefixedSlice(as: UInt16.self),
            let apnsID = buffer.readLengthPrefixedSlice(as: UInt8.self)
        else { return nil }
        var event = Event(
            name,
            device: device,
            time: Timestamp(milliseconds: head.2),
            environment: PushEnvironment(code: head.1)
        )
        event.id = id
        if topic.readableBytes > 0 { event.topic = String(buffer: topic) }
        if apnsID.readableBytes > 0 { event.apnsID = String(buffer: apnsID) }
        return event
    }

    private static func uuid(_ bytes: ByteBuffer) -> UUID? {
        bytes.withUnsafeReadableBytes { $0.count == 16 ? UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) : nil }
    }
}
