import Foundation
import GRDB
import PushSupport
import PushTypes

/// Reads and writes the row of a notification.
enum NotificationRow {
    private static let delivery = JSONColumn<DeliveryTime>("notification", "delivery")
    private static let pace = JSONColumn<PaceSettings>("notification", "pace")
    /// The stored audience of a notification for named tokens, which are in the table `target`.
    static let namedTokens = #"{"tokens":true}"#

    /// Reads a notification; `nil` if there is none.
    /// - Throws: ``DamagedRow``.
    static func fetch(_ id: UUID, in database: Database) throws -> NotificationRecord? {
        try database.row(sql: "SELECT * FROM notification WHERE id = ?", [id.uuidString])
            .map { try Self.record($0, in: database) }
    }

    /// Reads a notification with its tokens, its counters in shards and the number of retries.
    static func record(_ row: Row, in database: Database) throws -> NotificationRecord {
        var record = try Self.record(row)
        let number = row["number"] as Int64?
        if case .tokens = record.audience {
            let sql = "SELECT position, token FROM target WHERE notification = ? ORDER BY position"
            var tokens: [DeviceToken] = []
            for row in try database.rows(sql: sql, [number]) {
                if let token = row.token("token") {
                    tokens.append(token)
                } else if let position = row["position"] as Int64? {
                    record.erasedPositions.insert(position)
                }
            }
            record.audience = .tokens(tokens)
        }
        let retrying = "SELECT count(*) FROM retry WHERE notification = ?"
        record.progress.retrying = try database.count(sql: retrying, [number])
        if record.progress.finishedAt == nil || record.state == .cancelled {
            try Self.addShards(to: &record.progress, number: number, in: database)
            record.progress.ahead.nextPageAt = row.time("nextPageAt")
            try Self.addWork(to: &record.progress.ahead, number: number, in: database)
        }
        return record
    }

    /// Adds the counters of the shards, which become the notification's own once the shards are removed.
    private static func addShards(
        to progress: inout NotificationProgress,
        number: Int64?,
        in database: Database
    ) throws {
        let sql = """
            SELECT sum(accepted) AS accepted, sum(rejected) AS rejected, sum(failed) AS failed,
                sum(skipped) AS skipped, sum(unknown) AS unknown, max(lastPageAt) AS lastPageAt
            FROM shard WHERE notification = ?
            """
        guard let row = try database.row(sql: sql, [number]) else { return }
        progress.add(row)
        progress.lastPageAt = [progress.lastPageAt, row.time("lastPageAt")].compactMap { $0 }.max()
    }

    /// Adds what the unread shards and the retries say about the work ahead.
    private static func addWork(to ahead: inout WorkAhead, number: Int64?, in database: Database) throws {
        let shards = """
            SELECT count(*) AS shards, min(notBefore) AS first, max(notBefore) AS last, count(lease) AS leased
            FROM shard WHERE notification = ? AND isDone = 0
            """
        if let row = try database.row(sql: shards, [number]) {
            ahead.shards = row["shards"] ?? 0
            (ahead.firstShardAt, ahead.lastShardAt) = (row.time("first"), row.time("last"))
            ahead.isInFlight = row["leased"] as Int? ?? 0 > 0
        }
        let first = """
            SELECT lastPageAt IS NULL AS isUnread FROM shard WHERE notification = ? AND isDone = 0
            ORDER BY notBefore LIMIT 1
            """
        let isUnread = try database.row(sql: first, [number]).flatMap { $0["isUnread"] as Bool? }
        ahead.isFirstShardUnread = isUnread ?? false
        let last = """
            SELECT zone FROM shard WHERE notification = ? AND isDone = 0 AND zoneKind = 1
            ORDER BY notBefore DESC LIMIT 1
            """
        ahead.lastZone = try database.row(sql: last, [number]).flatMap { $0["zone"] as String? }
        let retry = """
            SELECT min(dueAt) FROM retry INDEXED BY retryByDue
            WHERE notification = ? AND dueAt < \(RetryQueue.afterOthers) AND lease IS NULL
            """
        ahead.retryAt = try database.time(sql: retry, [number])
    }

    /// Reads a notification's row alone, without the tokens that it names.
    static func record(_ row: Row) throws -> NotificationRecord {
        guard let id = row.uuid("id"), let app = row["app"] as Int64?, let createdAt = row.time("createdAt"),
            let state = row.value("state") as NotificationRecord.State?,
            let guarantee = row.value("guarantee") as NotificationRecord.Guarantee?,
            let lane = row.value("lane") as NotificationRecord.Lane?
        else { throw DamagedRow(table: "notification") }
        var record = NotificationRecord(
            id: id,
            app: app,
            content: try Self.content(row),
            audience: try Self.audience(row),
            environment: row.environment("environment"),
            guarantee: guarantee,
            lane: lane,
            delivery: try Self.delivery.value(row),
            pace: try Self.pace.value(row),
            createdAt: createdAt,
            startsAt: row.time("startsAt"),
            state: state
        )
        record.progress = Self.progress(row)
        (record.name, record.key, record.resendOf) = (row["name"], row.key, row.uuid("resendOf"))
        record.isForgotten = row["isForgotten"] ?? false
        record.acceptance.origin = (row["origin"] as String?).flatMap(NotificationOrigin.init)
        record.consent = ConsentRules(
            category: row["consentCategory"],
            ignoresQuietHours: row["ignoresQuietHours"] ?? false,
            ignoresCap: row["ignoresCap"] ?? false
        )
        if let schedule = row.uuid("schedule"), let at = row.time("runAt") {
            record.run = ScheduleRun(schedule: schedule, at: at)
        }
        return record
    }

    /// Returns warnings as they are stored; `nil` for none.
    static func text(of warnings: [String]) throws -> Data? {
        warnings.isEmpty ? nil : try JSONValue.array(warnings.map(JSONValue.string)).text
    }

    static func text(of audience: Audience) throws -> String {
        switch audience {
        case .tokens: Self.namedTokens
        case .devices(let expression): String(decoding: try expression.json.text, as: UTF8.self)
        case .channel(let channel): String(decoding: try channel.stored.text, as: UTF8.self)
        }
    }

    private static func audience(_ row: Row) throws -> Audience {
        guard let text = row["audience"] as String? else { throw DamagedRow(table: "notification") }
        if text == Self.namedTokens { return .tokens([]) }
        guard let json = try? JSONValue(parsing: Data(text.utf8)) else { throw DamagedRow(table: "notification") }
        if let channel = BroadcastChannel(stored: json) { return .channel(channel) }
        guard let expression = AudienceExpression(stored: json) else { throw DamagedRow(table: "notification") }
        return .devices(expression)
    }

    private static func progress(_ row: Row) -> NotificationProgress {
        var progress = NotificationProgress()
        progress.recipients = row["recipients"] as Int? ?? 0
        progress.add(row)
        (progress.startedAt, progress.lastPageAt) = (row.time("startedAt"), row.time("lastPageAt"))
        (progress.finishedAt, progress.pauseReason) = (row.time("finishedAt"), row["pauseReason"])
        progress.wave = WaveProgress(startedAt: row.time("waveStartedAt"), sent: row["sentInWave"] as Int? ?? 0)
        return progress
    }

    private static func content(_ row: Row) throws -> NotificationContent {
        guard let topic = row.topic("topic"),
            let pushType = row.value("pushType") as PushType?,
            let priority = (row["priority"] as Int?).flatMap(UInt8.init(exactly:)).flatMap(Priority.init(rawValue:)),
            let expiration = (row["expiration"] as String?).map({ Expiration(header: $0) }) ?? .servicePolicy,
            let payload = row["payload"] as Data?, let isTemplate = row["isTemplate"] as Bool?
        else { throw DamagedRow(table: "notification") }
        var content = NotificationContent(
            topic: topic,
            pushType: pushType,
            tokenKind: row.tokenKind("tokenKind"),
            priority: priority,
            expiration: expiration,
            collapseID: row["collapseID"],
            payload: payload,
            isTemplate: isTemplate
        )
        content.expiresIn = row["expiresIn"]
        content.placeholder = row["placeholder"]
        content.receipts = row.value("receipts") ?? .none
        return content
    }
}

extension BroadcastChannel {
    /// The stored audience, which no expression over devices looks like.
    fileprivate var stored: JSONValue {
        .object(["channel": .string(self.id.text), "storage": .integer(Int64(self.storage.rawValue))])
    }

    /// Reads a stored audience; `nil` for any other.
    fileprivate init?(stored: JSONValue) {
        guard case .object(let members) = stored, members.count == 2,
            let id = members["channel"]?.stringValue.flatMap({ ChannelID($0) }),
            let number = members["storage"]?.integerValue,
            let storage = Int(exactly: number).flatMap(ChannelStorage.init(rawValue:))
        else { return nil }
        self.init(id: id, storage: storage)
    }
}

extension NotificationProgress {
    /// Adds the counters of a row.
    fileprivate mutating func add(_ row: Row) {
        self.accepted += row["accepted"] as Int? ?? 0
        self.rejected += row["rejected"] as Int? ?? 0
        self.failed += row["failed"] as Int? ?? 0
        self.skipped += row["skipped"] as Int? ?? 0
        self.unknown += row["unknown"] as Int? ?? 0
    }
}

extension Row {
    /// The API key that the row names; `nil` for none.
    var key: KeyReference? {
        guard let id = self.uuid("key") else { return nil }
        return KeyReference(id: id, name: self["keyName"] ?? "")
    }
}
