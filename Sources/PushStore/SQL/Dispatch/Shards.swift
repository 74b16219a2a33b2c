import ProviderModel
import PushTypes

/// The division of a notification's audience into shards, which are sent independently.
enum Shards {
    /// The number of recipients per shard. Shards are larger if there would otherwise be more than ``maximumCount``.
    private static let size: Int64 = 50_000
    private static let maximumCount: Int64 = 16
    /// The approximate number of recipients in a page.
    private static let pageSize = 1000

    /// Adds a notification's shards, and records the value of the registration clock at its opening.
    static func add(
        _ plans: [ShardPlan],
        to notification: NotificationRecord,
        number: Int64,
        now: Timestamp,
        in database: any SQLConnection
    ) throws {
        guard !plans.isEmpty else { return }
        let devices = try DeviceCount.devices(of: notification.app, in: database)
        let recipients = Int64(notification.progress.recipients)
        let isNarrow = try Self.isNarrow(notification, devices: devices.count, in: database)
        let sql = "UPDATE notification SET isNarrow = ?, openedAfter = ?, openedAt = ? WHERE number = ?"
        let clock = try RegistrationChanges.clock(in: database)
        try database.run(sql: sql, [isNarrow, clock, now.milliseconds, number])
        var shard: Int64 = 0
        for plan in plans {
            for range in Self.ranges(of: notification, plan, devices, recipients, isNarrow: isNarrow) {
                try Self.add(range, plan, of: notification, number: number, shard: shard, lease: nil, in: database)
                shard += 1
            }
        }
    }

    /// The recipients of a shard: those after `cursor`, up to and including `last`.
    struct Range {
        var cursor, last: Int64
    }

    private enum Column: Int, CodingKey, CaseIterable {
        case notification, number, lane, zoneKind, zone, cursor, upTo, notBefore, lease
    }

    private static let insertion = Column.insertion(into: "shard")

    /// Adds one shard.
    /// - Parameter lease: The fencing number of the lease under which it is claimed, or `nil` for an unclaimed shard.
    static func add(
        _ range: Range,
        _ plan: ShardPlan,
        of notification: NotificationRecord,
        number: Int64,
        shard: Int64,
        lease: Int64?,
        in database: any SQLConnection
    ) throws {
        let row = try RowInsertion<Column>(Self.insertion, in: database)
        row.bind(number, to: .notification)
        row.bind(shard, to: .number)
        row.bind(notification.lane.rawValue, to: .lane)
        row.bind(plan.zone.code, to: .zoneKind)
        row.bind(plan.zone.name, to: .zone)
        row.bind(range.cursor, to: .cursor)
        row.bind(range.last, to: .upTo)
        row.bind(plan.notBefore.milliseconds, to: .notBefore)
        row.bind(lease, to: .lease)
        try row.run()
    }

    private static func isNarrow(
        _ notification: NotificationRecord,
        devices: Int64,
        in database: any SQLConnection
    ) throws -> Bool {
        guard case .devices(let audience) = notification.audience else { return false }
        let limit = AudienceDriver.limit(wanted: Self.pageSize, devices: devices)
        // Index ranges that cover all recipients have at least as many entries.
        guard notification.progress.recipients < limit else { return false }
        let (app, kind) = (notification.app, notification.content.tokenKind)
        return try AudienceDriver.choose(audience, of: kind, app: app, limit: limit, in: database) != nil
    }

    /// Returns the ranges of ids for a notification's shards, up to the newest device: several for many recipients.
    private static func ranges(
        of notification: NotificationRecord,
        _ plan: ShardPlan,
        _ devices: (first: Int64, last: Int64, count: Int64),
        _ recipients: Int64,
        isNarrow: Bool
    ) -> [Range] {
        switch notification.audience {
        // The count includes tokens that have been erased since.
        case .tokens(let tokens): return [Range(cursor: 0, last: max(recipients, Int64(tokens.count)))]
        case .channel: return [Range(cursor: 0, last: 1)]
        case .devices: break
        }
        let isWhole = isNarrow || notification.pace != nil || plan.zone != .any
        let count = isWhole ? 1 : min(Self.maximumCount, max(1, recipients / Self.size))
        let width = max(1, devices.count / count)
        return (0..<count).map { part in
            let cursor = part == 0 ? 0 : devices.first - 1 + part * width
            let last = part == count - 1 ? devices.last : devices.first - 1 + (part + 1) * width
            return Range(cursor: cursor, last: last)
        }
    }
}

extension ShardPlan.Zone {
    var code: Int64 {
        switch self {
        case .any: 0
        case .named: 1
        case .unknown: 2
        case .remainder: 3
        }
    }

    var name: String? { if case .named(let name) = self { name } else { nil } }

    /// Decodes a stored zone, or returns `nil` if it cannot be decoded.
    init?(code: Int64?, name: String?) {
        switch (code, name) {
        case (0, _): self = .any
        case (1, let name?): self = .named(name)
        case (2, _): self = .unknown
        case (3, _): self = .remainder
        default: return nil
        }
    }
}
