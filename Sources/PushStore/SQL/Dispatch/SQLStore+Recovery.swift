import ProviderModel
import PushSupport
package import PushTypes
import Synchronization

extension SQLStore {
    package func recover(now: Timestamp) async throws -> Int {
        let isShared = self.database.isShared
        return try await self.database.write { database in
            let fences = isShared ? NodeRows.lostLeases : "SELECT fence FROM lease"
            try Leases.release(try database.integers(sql: fences), in: database)
            return try NodeRows(database: database).endBegun(now: now)
        }
    }

    // MARK: Nodes

    package var isShared: Bool { self.database.isShared }

    package func clock() async throws -> Timestamp { try await self.database.clock() }

    package func join(_ node: NodeDescription, now: Timestamp) async throws {
        let id = try await self.database.write { try NodeRows(database: $0).add(node, now: now) }
        self.owner.set(id)
    }

    package func beat(_ node: NodeDescription, at now: Timestamp) async throws -> NodeBeat {
        let known = try await self.owner.number(self.database)
        let beat = try await self.database.write { database in
            try NodeRows(database: database).beat(known, node, now: now)
        }
        self.owner.set(beat.id)
        return beat
    }

    package func leave(now: Timestamp) async throws {
        let id = try await self.owner.number(self.database)
        try await self.database.write { database in
            try database.run(sql: "UPDATE node SET endedAt = ? WHERE id = ?", now.milliseconds, id)
            try NodeRows(database: database).takeOver(now: now)
        }
    }

    package func readChanges() async throws -> Set<StoreChange> {
        let numbers = try await self.database.changes()
        let changed = self.changes.withLock { known in
            defer { known = numbers }
            return Set(numbers.filter { known[$0.key] != $0.value }.keys)
        }
        for change in changed {
            switch change.kind {
            case .app:
                self.database.apps.forget()
                self.bridgeChanges.add(1, ordering: .acquiringAndReleasing)
            case .bridge: self.bridgeChanges.add(1, ordering: .acquiringAndReleasing)
            case .environment: break
            }
        }
        return changed
    }

    package func nodes() async throws -> [NodeRecord] {
        try await self.database.lookup { try NodeRows(database: $0).all() }
    }
}

/// The rows of the nodes that share a database (docs/decisions/0055).
private struct NodeRows {
    /// The query of the leases whose owners have ended.
    static let lostLeases = "SELECT fence FROM lease WHERE owner NOT IN (SELECT id FROM node WHERE endedAt IS NULL)"

    /// The time for which the row of an ended node is kept.
    private static let memory: Duration = .seconds(86_400)

    let database: any SQLConnection

    func add(_ node: NodeDescription, now: Timestamp) throws -> Int64 {
        let values: ColumnValues = [
            "name": node.name, "version": node.version, "address": node.address, "startedAt": now.milliseconds,
            "seenAt": now.milliseconds,
        ]
        return try self.database.insert(into: "node", values, returning: "id")
    }

    /// Records a heartbeat, takes over from dead nodes, and takes free duties.
    func beat(_ known: Int64, _ node: NodeDescription, now: Timestamp) throws -> NodeBeat {
        var beat = NodeBeat(id: known)
        let last = try self.database.time(sql: "SELECT seenAt FROM node WHERE id = ?", [known]) ?? now
        let deadline = min(now, last.advanced(by: NodeBeat.interval)).advanced(by: .zero - NodeBeat.patience)
        let seen = "UPDATE node SET seenAt = ? WHERE id = ? AND endedAt IS NULL"
        if try self.database.run(sql: seen, now.milliseconds, known) == 0 {
            // The others have taken this node for dead. Nothing is written under its old leases.
            beat.id = try self.add(node, now: now)
        }
        let silent = "UPDATE node SET endedAt = ? WHERE endedAt IS NULL AND seenAt < ? RETURNING id"
        beat.ended = try self.database.integers(sql: silent, [now.milliseconds, deadline.milliseconds])
        beat.interrupted = try self.takeOver(now: now)
        for duty in NodeDuty.allCases {
            let sql = """
                INSERT INTO duty (name, node) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET node = excluded.node
                WHERE duty.node NOT IN (SELECT id FROM node WHERE endedAt IS NULL)
                """
            try self.database.run(sql: sql, [duty.rawValue, beat.id])
        }
        let held: [String] = try self.database.values(sql: "SELECT name FROM duty WHERE node = ?", [beat.id])
        beat.duties = Set(held.compactMap(NodeDuty.init))
        beat.count = try self.database.count(sql: "SELECT count(*) FROM node WHERE endedAt IS NULL")
        return beat
    }

    /// Ends the leases of ended nodes, so that other nodes send what they held.
    /// - Returns: The number of recipients that were in flight under `atMostOnce`.
    @discardableResult
    func takeOver(now: Timestamp) throws -> Int {
        try Leases.release(try self.database.integers(sql: Self.lostLeases), in: self.database)
        let old = """
            DELETE FROM node WHERE endedAt < ? AND NOT EXISTS (SELECT 1 FROM lease WHERE owner = node.id)
            """
        try self.database.run(sql: old, now.advanced(by: .zero - Self.memory).milliseconds)
        return try self.endBegun(now: now)
    }

    /// Queues the recipients that were in flight under `atMostOnce` with a lost lease. They get the final state of
    /// ``EndingCause/interrupted``.
    func endBegun(now: Timestamp) throws -> Int {
        let isLost = "NOT EXISTS (SELECT 1 FROM lease WHERE lease.fence = begun.fence)"
        guard try self.database.hasRow(sql: "SELECT 1 FROM begun WHERE \(isLost)") else { return 0 }
        // The delivery keeps its state, so that the push is not sent again.
        let sql = """
            INSERT INTO retry (notification, recipient, lane, app, attempts, dueAt)
            SELECT delivery.notification, delivery.recipient, lane, app, attempts, ?
            FROM begun
                JOIN delivery ON delivery.notification = begun.notification AND delivery.recipient = begun.recipient
                JOIN notification ON notification.number = delivery.notification
            WHERE delivery.state = 0 AND \(isLost)
            ON CONFLICT DO NOTHING
            """
        let count = try self.database.run(sql: sql, [now.milliseconds])
        try self.database.run(sql: "DELETE FROM begun WHERE \(isLost)")
        return count
    }

    func all() throws -> [NodeRecord] {
        let duties = try self.database.rows(sql: "SELECT name, node FROM duty ORDER BY name")
        return try self.database.rows(sql: "SELECT * FROM node ORDER BY id").compactMap { row in
            guard let id = row["id"] as Int64?, let startedAt = row.time("startedAt"), let seenAt = row.time("seenAt")
            else { return nil }
            let node = NodeDescription(name: row["name"] ?? "", version: row["version"] ?? "", address: row["address"])
            return NodeRecord(
                id: id,
                node,
                startedAt: startedAt,
                seenAt: seenAt,
                endedAt: row.time("endedAt"),
                duties: duties.filter { ($0["node"] as Int64?) == id }.compactMap { $0.value("name") }
            )
        }
    }
}
