import Foundation
package import ProviderModel
import PushSupport
package import PushTypes
import Synchronization

extension SQLStore {
    /// The maximum number of rows that are erased in one transaction.
    static let erasedAtOnce = 1000
    /// The maximum number of pairs of a device and a notification whose receipts are made anonymous in one transaction.
    private static let anonymizedAtOnce = 200
    /// The maximum number of the user's former devices that one step processes. It leaves the others to the next step.
    private static let formerDevicesAtOnce = 20

    package func eraseApp(_ app: Int64, now: Timestamp, steady: Timestamp) async throws -> ErasureRecord? {
        // The app's bridges are deleted as well.
        defer { self.bridgeChanges.add(1, ordering: .acquiringAndReleasing) }
        return try await self.database.write { database in
            guard try database.run(sql: "UPDATE app SET isErased = 1 WHERE id = ?", [app]) > 0 else { return nil }
            let end = """
                UPDATE notification SET state = 'cancelled', finishedAt = ?, isForgotten = 1
                WHERE app = ? AND state NOT IN ('done', 'cancelled')
                """
            try database.run(sql: end, [now.milliseconds, app])
            let shards = "DELETE FROM shard WHERE notification IN (SELECT number FROM notification WHERE app = ?)"
            try database.run(sql: shards, [app])
            for table in StoredTable.all where table.owner == .app(.atOnce) {
                try database.run(sql: "DELETE FROM \(table.name) WHERE app = ?", [app])
            }
            // The erasure of the app replaces the erasures of its users.
            try database.run(sql: "DELETE FROM erasure WHERE app = ? AND user IS NOT NULL", [app])
            return try Self.addErasure(app: app, user: nil, steady: steady, in: database)
        }
    }

    package func erasure(ofApp bundleID: Topic) async throws -> ErasureRecord? {
        let sql = """
            SELECT * FROM erasure
            WHERE app = (SELECT id FROM app WHERE bundleID = ? AND isErased = 1) AND user IS NULL AND isEmptied = 0
            """
        return try await self.database.lookup { try $0.row(sql: sql, [bundleID.name]).map(ErasureRecord.init(row:)) }
    }

    package func eraseUser(_ user: String, app: Int64, steady: Timestamp) async throws -> ErasureRecord {
        @Sendable func step(_ id: Int64, _ database: any SQLConnection) -> UserErasure {
            UserErasure(id: id, user: user, app: app, now: steady, database: database)
        }
        // Stored requests have no index by user. A read searches them, so that writers do not have to wait.
        let requests = try await self.database.read { database -> [UserErasure.StoredRequest] in
            let earlier = try Self.erasure(app: app, user: user, in: database)
            guard earlier?.isUnderWay != true else { return [] }
            let remembered = try earlier.map { try step($0.id, database).tokens() } ?? []
            let present = step(0, database)
            return try present.requests(naming: try present.allTokens().union(remembered))
        }
        return try await self.database.write { database in
            if let earlier = try Self.erasure(app: app, user: user, in: database) {
                guard !earlier.isUnderWay else { return earlier }
                try step(earlier.id, database).releaseTokens()
            }
            let erasure = try Self.addErasure(app: app, user: user, steady: steady, in: database)
            try step(erasure.id, database).eraseProfile(requests)
            return erasure
        }
    }

    package func noteAnswered(_ erasure: ErasureRecord) async throws {
        let sql = "UPDATE erasure SET answered = max(answered, ?) WHERE id = ?"
        try await self.database.run(sql: sql, [erasure.request, erasure.id])
    }

    package func erasures() async throws -> [ErasureRecord] {
        let sql = "SELECT * FROM erasure ORDER BY id"
        return try await self.database.read { try $0.rows(sql: sql).map(ErasureRecord.init(row:)) }
    }

    package func continueErasure(_ erasure: ErasureRecord, now: Timestamp) async throws -> Bool {
        guard !erasure.isEmptied else { return false }
        guard let user = erasure.user else {
            return try await self.database.write { database in
                try AppErasure(app: erasure.app, limit: Self.erasedAtOnce, database: database).step()
            }
        }
        @Sendable func step(_ database: any SQLConnection) -> UserErasure {
            UserErasure(id: erasure.id, user: user, app: erasure.app, now: now, database: database)
        }
        // Audiences have no index by user. A read searches them, so that writers do not have to wait.
        let numbers = try await self.database.read { try step($0).notifications() }
        for number in numbers {
            while try await self.database.write({ try step($0).eraseNotification(number) }) {}
        }
        guard numbers.isEmpty else { return true }
        // A read searches the notifications with receipts, for the same reason.
        func anonymize(_ receipts: [UserErasure.ReceiptsOfDevice]) async throws {
            for first in stride(from: 0, to: receipts.count, by: Self.anonymizedAtOnce) {
                let part = receipts[first..<min(receipts.count, first + Self.anonymizedAtOnce)]
                try await self.database.write { for one in part { try step($0).anonymize(one) } }
            }
        }
        var former = 0
        while let (period, receipts) = try await self.database.read({ try step($0).formerDevice() }) {
            guard former < Self.formerDevicesAtOnce else { return true }
            former += 1
            try await anonymize(receipts)
            try await self.database.write { try step($0).eraseFormerDevice(period) }
        }
        let devices = try await self.database.read { try step($0).devices() }
        guard devices.isEmpty else {
            try await anonymize(try await self.database.read { try step($0).receipts(of: devices) })
            try await self.database.write { try step($0).eraseDevices(devices) }
            return true
        }
        try await self.eraseRest(of: user, erasure, step)
        return false
    }

    /// Erases the data of a user that belongs to neither notifications nor devices.
    private func eraseRest(
        of user: String,
        _ erasure: ErasureRecord,
        _ step: @escaping @Sendable (any SQLConnection) -> UserErasure
    ) async throws {
        let tokens = try await self.database.write { database in
            try step(database).eraseRest()
            return try step(database).tokens()
        }
        // The stored requests are searched again, because a writer with an old version may have stored it meanwhile.
        let requests = try await self.database.read { try step($0).requests(naming: try step($0).ownTokens()) }
        for request in requests { try await self.database.write { try step($0).eraseUser(from: [request]) } }
        // Blocks of events are long. A read searches them, so that writers do not have to wait.
        let events = ErasedEvents(erasure: erasure.id, user: user, tokens: tokens)
        let blocks = try await self.database.read { try events.blocks(app: erasure.app, in: $0) }
        for block in blocks { try await self.database.write { try events.erase(from: block, in: $0) } }
    }

    package func tokens(of erasure: ErasureRecord) async throws -> Set<DeviceToken> {
        guard let user = erasure.user else { return [] }
        return try await self.database.read { database in
            let now = erasure.requestedAt
            return try UserErasure(id: erasure.id, user: user, app: erasure.app, now: now, database: database)
                .allTokens()
        }
    }

    package func eraseEnded(now: Timestamp) async throws {
        for app in try await self.database.read({ try $0.integers(sql: "SELECT id FROM app") }) {
            @Sendable func erased(_ database: any SQLConnection) -> UserErasure {
                UserErasure(id: 0, user: DeviceUsers.erased, app: app, now: now, database: database)
            }
            for period in try await self.database.read({
                try DeviceUsers(app: app, database: $0).ended(of: DeviceUsers.erased)
            }) {
                let receipts = try await self.database.read { try erased($0).receipts(in: period) }
                try await self.database.write { database in
                    for receipt in receipts { try erased(database).anonymize(receipt) }
                    try erased(database).eraseFormerDevice(period)
                }
            }
        }
    }

    package func finishErasure(_ erasure: ErasureRecord) async throws {
        let sql = "UPDATE erasure SET user = NULL, tokens = NULL, isEmptied = 1 WHERE id = ? AND request = ?"
        try await self.database.write { database in
            guard try database.run(sql: sql, [erasure.id, erasure.request]) > 0, let user = erasure.user else { return }
            // A page that was read before the erasure was requested may have been counted meanwhile.
            let now = erasure.requestedAt
            try UserErasure(id: erasure.id, user: user, app: erasure.app, now: now, database: database).eraseCounts()
        }
    }

    package func overwriteErased() async throws -> Bool {
        let ended = try await self.erasures().filter(\.isEmptied).map(\.id)
        guard !ended.isEmpty else { return true }
        guard try await self.database.overwriteDeleted() else { return false }
        try await self.database.write { database in
            for id in ended { try database.run(sql: "DELETE FROM erasure WHERE id = ?", [id]) }
        }
        return true
    }

    /// Adds an erasure of a user or, if `user` is `nil`, of an app. An earlier one, whose free pages have not been
    /// overwritten yet, is extended to the present data. Later user changes have higher numbers than its `lastChange`.
    private static func addErasure(
        app: Int64,
        user: String?,
        steady: Timestamp,
        in database: any SQLConnection
    ) throws -> ErasureRecord {
        let lastChange = try RegistrationChanges(app: app, database: database).tick() - 1
        // An upsert would have to name the expression of the unique index, which is SQLite's.
        let extend = """
            UPDATE erasure SET requestedAt = :requestedAt, lastChange = :lastChange,
                lastDevice = (SELECT max(id) FROM device), lastNotification = (SELECT max(number) FROM notification),
                request = request + 1
            WHERE app = :app AND user IS :user AND isEmptied = 0
            """
        let insert = """
            INSERT INTO erasure (app, user, requestedAt, lastChange, lastDevice, lastNotification)
            VALUES (
                :app, :user, :requestedAt, :lastChange, (SELECT max(id) FROM device),
                (SELECT max(number) FROM notification))
            """
        let values: SQLArguments = [
            "app": app, "user": user, "requestedAt": steady.milliseconds, "lastChange": lastChange,
        ]
        if try database.run(sql: extend, values) == 0 { try database.run(sql: insert, values) }
        guard let erasure = try Self.erasure(app: app, user: user, in: database)
        else { throw DamagedRow(table: "erasure") }
        return erasure
    }

    private static func erasure(app: Int64, user: String?, in database: any SQLConnection) throws -> ErasureRecord? {
        let sql = "SELECT * FROM erasure WHERE app = ? AND user IS ? AND isEmptied = 0"
        return try database.row(sql: sql, [app, user]).map(ErasureRecord.init(row:))
    }
}

extension ErasureRecord: StoredRecord {
    static let table = "erasure"

    init(_ row: StoredRow) throws {
        self.init(
            id: try row.get("id"),
            app: try row.get("app"),
            user: row["user"],
            requestedAt: try row.get("requestedAt"),
            isEmptied: try row.get("isEmptied"),
            request: try row.get("request"),
            answered: try row.get("answered")
        )
    }
}

/// Erases the pending webhook events that name a user or tokens. Events of notifications that were accepted after the
/// request for the erasure stay.
struct ErasedEvents {
    let erasure: Int64
    let user: String
    let tokens: Set<DeviceToken>

    /// Returns the ids of an app's event blocks that name the user or the tokens.
    func blocks(app: Int64, in database: any SQLConnection) throws -> [Int64] {
        let needles = try ([self.user] + self.tokens.map(\.hex)).map { try JSONValue.string($0).text }
        var found: Set<Int64> = []
        for needle in needles {
            let sql = "SELECT id FROM eventBlock WHERE app = ? AND instr(events, ?) > 0"
            found.formUnion(try database.integers(sql: sql, [app, needle]))
        }
        return found.sorted()
    }

    /// Erases the events that name the user or the tokens from a block. A block without remaining events is deleted.
    func erase(from block: Int64, in database: any SQLConnection) throws {
        let sql = "SELECT events FROM eventBlock WHERE id = ?"
        guard let row = try database.row(sql: sql, [block]), let events = row["events"] as Data? else { return }
        let text = Data("[".utf8) + events + Data("]".utf8)
        guard case .array(let all)? = try? JSONValue(parsing: text) else {
            // A damaged block could not be sent anyway.
            return _ = try database.run(sql: "DELETE FROM eventBlock WHERE id = ?", [block])
        }
        let rest = try all.filter { try !self.concerns($0) || self.isLater($0, in: database) }
        guard !rest.isEmpty else { return _ = try database.run(sql: "DELETE FROM eventBlock WHERE id = ?", [block]) }
        let kept = Data(try rest.map { try $0.text }.joined(separator: Data(",".utf8)))
        try database.update("eventBlock", ["events": kept], id: block)
    }

    private func concerns(_ event: JSONValue) -> Bool {
        guard case .object(let members) = event else { return false }
        if members["user"] == .string(self.user) { return true }
        guard case .string(let token)? = members["token"] else { return false }
        return DeviceToken(hex: token).map(self.tokens.contains) ?? false
    }

    /// Returns whether the event belongs to a notification that was accepted after the erasure was requested.
    private func isLater(_ event: JSONValue, in database: any SQLConnection) throws -> Bool {
        guard let notification = event["notification"].stringValue else { return false }
        let sql = """
            SELECT 1 FROM notification WHERE id = ? AND number > (SELECT lastNotification FROM erasure WHERE id = ?)
            """
        return try database.hasRow(sql: sql, [notification, self.erasure])
    }
}
