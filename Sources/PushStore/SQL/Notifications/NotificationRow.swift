import Foundation
import ProviderModel
import PushSupport
import PushTypes

enum NotificationRow {
    /// The stored audience of a notification to named tokens. The tokens themselves are in the table `target`.
    static let namedTokens = #"{"tokens":true}"#

    static func fetch(_ id: UUID, in database: any SQLConnection) throws -> NotificationRecord? {
        try database.row(sql: "SELECT * FROM notification WHERE id = ?", [id.uuidString])
            .map { try Self.record($0, in: database) }
    }

    /// Decodes a notification, and adds its named tokens, the counters of its shards and the number of its retries.
    static func record(_ row: SQLRow, in database: any SQLConnection) throws -> NotificationRecord {
        var record = try NotificationRecord(row: row)
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

    /// Adds the counters of the shards that exist. Those of deleted shards are in the notification's row.
    private static func addShards(
        to progress: inout NotificationProgress,
        number: Int64?,
        in database: any SQLConnection
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

    private static func addWork(to ahead: inout RemainingWork, number: Int64?, in database: any SQLConnection) throws {
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

    private static func text(of warnings: [String]) throws -> Data? {
        warnings.isEmpty ? nil : try JSONValue.array(warnings.map(JSONValue.string)).text
    }

    private static func text(of audience: Audience) throws -> String {
        switch audience {
        case .tokens: Self.namedTokens
        case .devices(let expression): String(decoding: try expression.json.text, as: UTF8.self)
        case .channel(let channel): String(decoding: try channel.stored.text, as: UTF8.self)
        }
    }
}

extension NotificationRecord: StoredRecord {
    static let table = "notification"

    private static let storedDelivery = JSONColumn<DeliveryTime>("delivery")
    private static let storedPace = JSONColumn<PaceSettings>("pace")

    /// Decodes the row, without the tokens that the notification names.
    init(_ row: StoredRow) throws {
        self.init(
            id: try row.get("id"),
            app: try row.get("app"),
            content: try NotificationContent(row),
            audience: try Audience(row),
            environment: row["environment"],
            guarantee: try row.get(raw: "guarantee"),
            lane: try row.get(raw: "lane"),
            delivery: try Self.storedDelivery.value(row),
            pace: try Self.storedPace.value(row),
            createdAt: try row.get("createdAt"),
            startsAt: row["startsAt"],
            state: try row.get(raw: "state")
        )
        self.progress = NotificationProgress(row)
        (self.name, self.key, self.resendOf) = (row["name"], row.key, row["resendOf"])
        self.isForgotten = row["isForgotten"] ?? false
        self.acceptance.origin = (row["origin"] as String?).flatMap(NotificationOrigin.init)
        self.consent = ConsentRules(
            category: row["consentCategory"],
            ignoresQuietHours: row["ignoresQuietHours"] ?? false,
            ignoresCap: row["ignoresCap"] ?? false
        )
        if let schedule: UUID = row["schedule"], let at: Timestamp = row["runAt"] {
            self.run = ScheduleRun(schedule: schedule, at: at)
        }
    }
}

extension NotificationContent {
    fileprivate init(_ row: StoredRow) throws {
        let priority = (row["priority"] as Int?).flatMap(UInt8.init(exactly:)).flatMap(Priority.init(rawValue:))
        let expiration: Expiration? = (row["expiration"] as String?).map { Expiration(header: $0) } ?? .servicePolicy
        self.init(
            topic: try row.get("topic"),
            pushType: try row.get(raw: "pushType"),
            tokenKind: row["tokenKind"],
            priority: try row.need(priority),
            expiration: try row.need(expiration),
            collapseID: row["collapseID"],
            payload: try row.get("payload"),
            isTemplate: try row.get("isTemplate")
        )
        (self.expiresIn, self.placeholder) = (row["expiresIn"], row["placeholder"])
        self.receipts = row[raw: "receipts"] ?? .none
    }
}

extension Audience {
    fileprivate init(_ row: StoredRow) throws {
        let text: String = try row.get("audience")
        guard text != NotificationRow.namedTokens else {
            self = .tokens([])
            return
        }
        let json = try row.need(try? JSONValue(parsing: Data(text.utf8)))
        if let channel = BroadcastChannel(stored: json) {
            self = .channel(channel)
        } else {
            self = .devices(try row.need(AudienceExpression(stored: json)))
        }
    }
}

extension BroadcastChannel {
    /// The JSON form of the audience in the database, which differs from that of any device expression.
    fileprivate var stored: JSONValue {
        .object(["channel": .string(self.id.text), "storage": .integer(Int64(self.storage.rawValue))])
    }

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
    fileprivate init(_ row: StoredRow) {
        self.init()
        self.recipients = row["recipients"] ?? 0
        self.add(row.row)
        (self.startedAt, self.lastPageAt) = (row["startedAt"], row["lastPageAt"])
        (self.finishedAt, self.pauseReason) = (row["finishedAt"], row["pauseReason"])
        self.wave = WaveProgress(startedAt: row["waveStartedAt"], sent: row["sentInWave"] ?? 0)
    }

    fileprivate mutating func add(_ row: SQLRow) {
        self.accepted += row["accepted"] as Int? ?? 0
        self.rejected += row["rejected"] as Int? ?? 0
        self.failed += row["failed"] as Int? ?? 0
        self.skipped += row["skipped"] as Int? ?? 0
        self.unknown += row["unknown"] as Int? ?? 0
    }
}

extension NotificationRow {
    /// The columns that are set when a notification is accepted. The other columns keep their default values.
    private enum Column: Int, CodingKey, CaseIterable {
        case id, prefix, app, state, lane, guarantee, audience, environment, topic, pushType, tokenKind, priority
        case expiration, collapseID, payload, isTemplate, delivery, pace, schedule, runAt, createdAt, startsAt
        case recipients, idempotencyKey, fingerprint, name, expiresIn, key, keyName, resendOf, receipts
        case consentCategory, ignoresQuietHours, ignoresCap, placeholder, receivedAt, checkedIn, origin, warnings
        case openedAfter, openedAt
    }

    private enum TargetColumn: Int, CodingKey, CaseIterable { case notification, position, token, environment }

    private static let insertion = Column.insertion(into: "notification", "RETURNING number")
    private static let targetInsertion = TargetColumn.insertion(into: "target")

    /// Inserts a notification.
    /// - Parameters:
    ///   - idempotency: The key and the fingerprint of the request, or `nil` for a request without a key.
    ///   - opening: The registration clock and the time of the opening, or `nil` if the notification is opened later.
    /// - Returns: The number by which the store identifies the notification.
    static func insert(
        _ notification: NotificationRecord,
        idempotency: Idempotency?,
        opening: (clock: Int64, at: Timestamp)?,
        in database: any SQLConnection
    ) throws -> Int64 {
        let row = try RowInsertion<Column>(Self.insertion, in: database)
        row.bind(notification.id.uuidString, to: .id)
        row.bind(DeliveryPrefix(of: notification.id).bits, to: .prefix)
        row.bind(notification.app, to: .app)
        row.bind(notification.state.rawValue, to: .state)
        row.bind(notification.lane.rawValue, to: .lane)
        row.bind(notification.guarantee.rawValue, to: .guarantee)
        row.bind(try Self.text(of: notification.audience), to: .audience)
        row.bind(notification.environment?.code, to: .environment)
        row.bind(try notification.delivery?.json.text, to: .delivery)
        row.bind(try notification.pace?.json.text, to: .pace)
        row.bind(notification.run?.schedule.uuidString, to: .schedule)
        row.bind(notification.run?.at.milliseconds, to: .runAt)
        row.bind(notification.createdAt.milliseconds, to: .createdAt)
        row.bind(notification.startsAt.milliseconds, to: .startsAt)
        row.bind(Int64(notification.progress.recipients), to: .recipients)
        row.bind(idempotency?.key, to: .idempotencyKey)
        row.bind((idempotency?.fingerprint).map { Data($0) }, to: .fingerprint)
        row.bind(notification.name, to: .name)
        row.bind(notification.key?.id.uuidString, to: .key)
        row.bind(notification.key?.name, to: .keyName)
        row.bind(notification.resendOf?.uuidString, to: .resendOf)
        row.bind(notification.consent.category, to: .consentCategory)
        row.bind(notification.consent.ignoresQuietHours ? 1 : 0, to: .ignoresQuietHours)
        row.bind(notification.consent.ignoresCap ? 1 : 0, to: .ignoresCap)
        row.bind(notification.acceptance.receivedAt?.milliseconds, to: .receivedAt)
        row.bind(notification.acceptance.checkedIn, to: .checkedIn)
        row.bind(notification.acceptance.origin?.description, to: .origin)
        row.bind(try Self.text(of: notification.acceptance.warnings), to: .warnings)
        row.bind(opening?.clock, to: .openedAfter)
        row.bind(opening?.at.milliseconds, to: .openedAt)
        Self.bind(notification.content, to: row)
        let owner: RowOwner? = .app
        return try owner.inserting { try row.id() }
    }

    private static func bind(_ content: NotificationContent, to row: RowInsertion<Column>) {
        row.bind(content.topic.name, to: .topic)
        row.bind(content.pushType.rawValue, to: .pushType)
        row.bind(content.tokenKind?.code, to: .tokenKind)
        row.bind(Int64(content.priority.rawValue), to: .priority)
        row.bind(content.expiration.header, to: .expiration)
        row.bind(content.expiresIn, to: .expiresIn)
        row.bind(content.collapseID, to: .collapseID)
        row.bind(content.payload, to: .payload)
        row.bind(content.isTemplate ? 1 : 0, to: .isTemplate)
        row.bind(content.receipts.rawValue, to: .receipts)
        row.bind(content.placeholder, to: .placeholder)
    }

    /// Inserts the tokens that a notification names, or the channel of a broadcast.
    static func insertTargets(of notification: NotificationRecord, number: Int64, in database: any SQLConnection) throws
    {
        let targets = notification.audience.targets
        guard !targets.isEmpty else { return }
        let row = try RowInsertion<TargetColumn>(Self.targetInsertion, in: database)
        row.bind(number, to: .notification)
        row.bind((notification.environment ?? .production).code, to: .environment)
        for (position, token) in zip(Int64(1)..., targets) {
            row.bind(position, to: .position)
            row.bind(token, to: .token)
            try row.run()
        }
    }
}

extension Audience {
    /// The tokens for the rows in the table `target`. A channel has a single row there, with an empty token.
    fileprivate var targets: [[UInt8]] {
        switch self {
        case .tokens(let tokens): tokens.map(\.bytes)
        case .channel: [[]]
        case .devices: []
        }
    }
}
