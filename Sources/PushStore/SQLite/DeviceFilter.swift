import GRDB

/// Which of an app's devices a shard has, of those that are active.
struct DeviceFilter: Sendable {
    private(set) var condition = "TRUE"
    private(set) var arguments: [DatabaseValue] = []
    /// The index in whose order the devices are walked: left to itself, the planner would sort half of them anew for
    /// each page.
    let index: String
    /// Whether there are few such filters.
    let isCommon: Bool

    init(_ claim: ShardClaim, audience: AudienceExpression) {
        switch claim.zone {
        case .any, .leftOver: self.index = "INDEXED BY deviceByApp"
        case .named, .unknown: self.index = "INDEXED BY deviceByTimeZone"
        }
        self.isCommon = audience == .everyone
        if let environment = claim.notification.environment {
            self.condition += " AND environment = \(environment.code)"
        }
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
        case .leftOver: break
        }
        guard zone != .any else { return }
        // Whoever moved between zones had it there.
        self.condition += """
             AND NOT EXISTS (
                SELECT 1 FROM delivery WHERE delivery.notification = ? AND delivery.recipient = device.id)
            AND NOT EXISTS (SELECT 1 FROM retry WHERE retry.notification = ? AND retry.recipient = device.id)
            """
        self.arguments += [number.databaseValue, number.databaseValue]
    }
}
