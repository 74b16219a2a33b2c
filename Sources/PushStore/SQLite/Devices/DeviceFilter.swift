import GRDB

/// The condition by which a shard selects among an app's active devices.
struct DeviceFilter: Sendable {
    private(set) var condition = "TRUE"
    private(set) var arguments: [DatabaseValue] = []
    /// The index in whose order the devices are visited. SQLite's planner alone would sort half of them for each page.
    let index: String
    /// Indicates whether many notifications have this filter.
    let isCommon: Bool

    init(_ claim: ShardClaim, audience: AudienceExpression) {
        switch claim.zone {
        case .any, .remainder: self.index = "INDEXED BY deviceByApp"
        case .named, .unknown: self.index = "INDEXED BY deviceByTimeZone"
        }
        self.isCommon = audience == .everyone
        self.condition += SQLiteStore.only(claim.notification.environment, claim.notification.content.tokenKind)
        self.add(audience, app: claim.notification.app)
        self.add(claim.zone, number: claim.notificationNumber)
    }

    private mutating func add(_ audience: AudienceExpression, app: Int64) {
        guard audience != .everyone else { return }
        let query = AudienceSQL(audience, app: app)
        self.condition += " AND \(query.sql)"
        self.arguments += query.arguments
    }

    private mutating func add(_ zone: ShardPlan.Zone, number: Int64) {
        switch zone {
        case .any: break
        case .named(let name):
            self.condition += " AND timeZone = ?"
            self.arguments.append(name.databaseValue)
        case .unknown: self.condition += " AND timeZone IS NULL"
        case .remainder: break
        }
        guard zone != .any else { return }
        // A device that moved between zones had the notification there.
        self.condition += """
             AND NOT EXISTS (
                SELECT 1 FROM delivery WHERE delivery.notification = ? AND delivery.recipient = device.id)
            AND NOT EXISTS (SELECT 1 FROM retry WHERE retry.notification = ? AND retry.recipient = device.id)
            """
        self.arguments += [number.databaseValue, number.databaseValue]
    }
}
