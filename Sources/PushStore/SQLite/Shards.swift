import GRDB
import PushTypes

/// Splits a notification's audience into shards.
enum Shards {
    /// Devices that are worth a shard of their own.
    private static let size: Int64 = 50_000
    private static let maximumCount: Int64 = 16
    /// Recipients that are read at once, about.
    private static let pageSize = 1000

    static func add(
        _ plans: [ShardPlan],
        to notification: NotificationRecord,
        number: Int64,
        in database: Database
    ) throws {
        guard !plans.isEmpty else { return }
        let devices = try Self.devices(of: notification.app, in: database)
        let recipients = Int64(notification.progress.recipients)
        let isNarrow = try Self.isNarrow(notification, devices: devices.count, in: database)
        try database.execute(
            sql: "UPDATE notification SET isNarrow = ?, openedAfter = ? WHERE number = ?",
            arguments: [isNarrow, try RegistrationChanges.clock(in: database), number]
        )
        var shard: Int64 = 0
        for plan in plans {
            for (cursor, last) in Self.ranges(of: notification, plan, devices, recipients, isNarrow: isNarrow) {
                try Self.insert(plan, notification, number, shard: shard, after: cursor, to: last, in: database)
                shard += 1
            }
        }
    }

    /// Whether the recipients are found by other indexes sooner than by walking over all devices.
    private static func isNarrow(
        _ notification: NotificationRecord,
        devices: Int64,
        in database: Database
    ) throws -> Bool {
        guard case .devices(let audience) = notification.audience else { return false }
        let limit = AudienceDriver.limit(wanted: Self.pageSize, devices: devices)
        // What drives them are at least as many as they are.
        guard notification.progress.recipients < limit else { return false }
        return try AudienceDriver.choose(audience, app: notification.app, limit: limit, in: database) != nil
    }

    /// Everything up to the device that registered last; in several parts only where that makes sense.
    private static func ranges(
        of notification: NotificationRecord,
        _ plan: ShardPlan,
        _ devices: (first: Int64, last: Int64, count: Int64),
        _ recipients: Int64,
        isNarrow: Bool
    ) -> [(cursor: Int64, last: Int64)] {
        if case .tokens(let tokens) = notification.audience { return [(0, Int64(tokens.count))] }
        let isWhole = isNarrow || notification.pace != nil || plan.zone != .any
        let count = isWhole ? 1 : min(Self.maximumCount, max(1, recipients / Self.size))
        let width = max(1, devices.count / count)
        return (0..<count).map { part in
            let cursor = part == 0 ? 0 : devices.first - 1 + part * width
            return (cursor, part == count - 1 ? devices.last : devices.first - 1 + (part + 1) * width)
        }
    }

    /// The ids that an app's devices have, and how many there may be between the first and the last.
    static func devices(
        of app: Int64,
        in database: Database
    ) throws -> (first: Int64, last: Int64, count: Int64) {
        let row = try Row.fetchOne(
            database,
            sql: """
                SELECT (SELECT id FROM device WHERE app = ?1 ORDER BY id LIMIT 1) AS first,
                    (SELECT id FROM device WHERE app = ?1 ORDER BY id DESC LIMIT 1) AS last
                """,
            arguments: [app]
        )
        guard let first = row?["first"] as Int64?, let last = row?["last"] as Int64? else { return (1, 0, 0) }
        return (first, last, last - first + 1)
    }

    private static func insert(
        _ plan: ShardPlan,
        _ notification: NotificationRecord,
        _ number: Int64,
        shard: Int64,
        after cursor: Int64,
        to last: Int64,
        in database: Database
    ) throws {
        try database.execute(
            sql: """
                INSERT INTO shard (notification, number, lane, zoneKind, zone, cursor, upTo, notBefore)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                number, shard, notification.lane.rawValue, plan.zone.code, plan.zone.name, cursor, last,
                plan.notBefore.milliseconds,
            ]
        )
    }
}

extension ShardPlan.Zone {
    /// As it is stored.
    var code: Int64 {
        switch self {
        case .any: 0
        case .named: 1
        case .unknown: 2
        case .leftOver: 3
        }
    }

    var name: String? {
        if case .named(let name) = self { name } else { nil }
    }

    init?(code: Int64?, name: String?) {
        switch (code, name) {
        case (0, _): self = .any
        case (1, let name?): self = .named(name)
        case (2, _): self = .unknown
        case (3, _): self = .leftOver
        default: return nil
        }
    }
}
