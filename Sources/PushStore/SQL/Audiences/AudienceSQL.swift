import Foundation
import ProviderModel
import PushSupport
import PushTypes

/// The SQL condition on a row of `device` that selects the devices of an audience.
struct AudienceSQL: Sendable {
    private(set) var sql = ""
    private(set) var arguments: [SQLValue] = []
    private let app: Int64
    private let attributes: AttributeColumns

    init(_ expression: AudienceExpression, app: Int64, _ attributes: AttributeColumns) {
        (self.app, self.attributes) = (app, attributes)
        self.add(expression)
    }

    private mutating func add(_ expression: AudienceExpression) {
        switch expression {
        case .everyone: self.sql += "TRUE"
        case .token(let token): self.add("device.token = ?", Data(token.bytes))
        case .user(let user): self.add("device.user = ?", user)
        case .tag(let tag):
            self.add(
                "EXISTS (SELECT 1 FROM deviceTag WHERE app = ? AND tag = ? AND deviceTag.device = device.id)",
                self.app,
                tag
            )
        case .attribute(let name, let comparison, let value):
            let (condition, bound) = self.attributes.condition(on: value, Self.sign(comparison))
            self.add(
                """
                EXISTS (SELECT 1 FROM deviceAttribute INDEXED BY attributeByDevice
                    WHERE deviceAttribute.device = device.id AND app = ? AND name = ? AND \(condition))
                """,
                self.app,
                name,
                bound
            )
        case .hasAttribute(let name):
            self.add(
                """
                EXISTS (SELECT 1 FROM deviceAttribute INDEXED BY attributeByDevice
                    WHERE deviceAttribute.device = device.id AND app = ? AND name = ?)
                """,
                self.app,
                name
            )
        case .locale(let locale):
            let tag = LocaleTag.stored(locale)
            // Matches the tag, and tags that begin with it and a hyphen, which the full stop follows in ASCII.
            self.add("(device.locale = ? OR (device.locale > ? AND device.locale < ?))", tag, "\(tag)-", "\(tag).")
        case .appVersion(let comparison, let version):
            self.add("device.versionNumber \(Self.sign(comparison)) ?", version.number)
        case .timeZone(let zone): self.add("device.timeZone = ?", zone)
        case .activity(let activity): self.add("device.activity = ?", activity)
        case .lastSeen(let comparison, let time):
            self.add("device.registeredAt \(Self.sign(comparison)) ?", time.milliseconds)
        case .outcomes(let outcomes):
            let (condition, arguments) = Self.condition(on: outcomes)
            self.sql += "EXISTS (SELECT 1 FROM delivery WHERE \(condition) AND recipient = device.id)"
            self.arguments += arguments
        case .and(let expressions): self.combine(expressions, "AND")
        case .or(let expressions): self.combine(expressions, "OR")
        case .not(let expression):
            // A comparison with NULL counts as false, so that its negation is true.
            self.sql += "("
            self.add(expression)
            self.sql += ") IS NOT TRUE"
        }
    }

    private mutating func add(_ condition: String, _ arguments: any SQLEncodable...) {
        self.sql += condition
        self.arguments += arguments.map(\.sqlValue)
    }

    private mutating func combine(_ expressions: [AudienceExpression], _ operation: String) {
        guard !expressions.isEmpty else { return self.sql += operation == "AND" ? "TRUE" : "FALSE" }
        self.sql += "("
        for (index, expression) in expressions.enumerated() {
            if index > 0 { self.sql += " \(operation) " }
            self.add(expression)
        }
        self.sql += ")"
    }

    /// Returns the SQL conditions on environment and token kind, each preceded by `AND`. A `nil` value adds none.
    static func only(_ environment: PushEnvironment?, _ kind: DeviceTokenKind?) -> String {
        (environment.map { " AND environment = \($0.code)" } ?? "") + (kind.map { " AND kind = \($0.code)" } ?? "")
    }

    /// Returns the SQL condition that a row of `delivery` has one of the outcomes, with its arguments.
    static func condition(on outcomes: RecipientOutcomes) -> (sql: String, arguments: [SQLValue]) {
        let states = outcomes.states.map { String($0.rawValue) }.sorted().joined(separator: ", ")
        let texts = outcomes.reasons ?? outcomes.exceptReasons
        let marks = Array(repeating: "?", count: texts.count).joined(separator: ", ")
        let ids = "(SELECT id FROM reason WHERE text IN (\(marks)))"
        let reasons = outcomes.reasons == nil ? "(reason IS NULL OR reason NOT IN \(ids))" : "reason IN \(ids)"
        let sql = """
            delivery.notification = (SELECT number FROM notification WHERE id = ?)
                AND delivery.state IN (\(states)) AND \(reasons)
            """
        return (sql, [outcomes.notification.uuidString.sqlValue] + texts.map(\.sqlValue))
    }

    static func sign(_ comparison: AudienceExpression.Comparison) -> String {
        switch comparison {
        case .equal: "="
        case .atLeast: ">="
        case .above: ">"
        case .atMost: "<="
        case .below: "<"
        }
    }
}

/// The SQL condition by which a shard selects its recipients among the active devices of the app.
struct DeviceFilter: Sendable {
    private(set) var condition = "TRUE"
    private(set) var arguments: [SQLValue] = []
    /// The `INDEXED BY` clause that sets the order of the scanned devices. SQLite's own choice would require a sort.
    let index: String
    /// A Boolean value that indicates whether the statement is worth caching, because many notifications share it.
    let isCommon: Bool

    init(_ claim: ShardClaim, audience: AudienceExpression, _ attributes: AttributeColumns) {
        switch claim.zone {
        case .any, .remainder: self.index = "INDEXED BY deviceByApp"
        case .named, .unknown: self.index = "INDEXED BY deviceByTimeZone"
        }
        self.isCommon = audience == .everyone
        self.condition += AudienceSQL.only(claim.notification.environment, claim.notification.content.tokenKind)
        self.add(audience, app: claim.notification.app, attributes)
        self.add(claim.zone, number: claim.notificationNumber)
    }

    private mutating func add(_ audience: AudienceExpression, app: Int64, _ attributes: AttributeColumns) {
        guard audience != .everyone else { return }
        let query = AudienceSQL(audience, app: app, attributes)
        self.condition += " AND \(query.sql)"
        self.arguments += query.arguments
    }

    private mutating func add(_ zone: ShardPlan.Zone, number: Int64) {
        switch zone {
        case .any: break
        case .named(let name):
            self.condition += " AND timeZone = ?"
            self.arguments.append(name.sqlValue)
        case .unknown: self.condition += " AND timeZone IS NULL"
        case .remainder: break
        }
        guard zone != .any else { return }
        // A device that has moved between zones may have got the notification in its former zone.
        self.condition += """
             AND NOT EXISTS (
                SELECT 1 FROM delivery WHERE delivery.notification = ? AND delivery.recipient = device.id)
            AND NOT EXISTS (SELECT 1 FROM retry WHERE retry.notification = ? AND retry.recipient = device.id)
            """
        self.arguments += [number.sqlValue, number.sqlValue]
    }
}
