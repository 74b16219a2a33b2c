package import ProviderModel
package import PushTypes

extension SQLStore {
    /// The maximum number of groups that a query returns. More exist only if they are created on purpose.
    static let maximumConsentGroups = 10_000

    package func consentGroups(
        app: AppRecord,
        audience: Audience,
        environment: PushEnvironment?,
        content: NotificationContent,
        rules: ConsentRules,
        now: Timestamp
    ) async throws -> [ConsentGroup]? {
        try await self.database.query { database in
            let query = try ConsentGroupQuery(app, environment, content, rules, now: now, in: database)
            guard !query.isEmpty else { return [] }
            return switch audience {
            case .devices(let expression): try query.groups(of: expression)
            case .tokens(let tokens): try query.groups(of: tokens)
            case .channel: []
            }
        }
    }
}

private struct ConsentGroupQuery {
    private let app: AppRecord
    private let environment: PushEnvironment?
    private let kind: DeviceTokenKind?
    private let columns: ConsentColumns
    private let cap: FrequencyCap?
    private let now: Timestamp
    private let database: any SQLConnection

    init(
        _ app: AppRecord,
        _ environment: PushEnvironment?,
        _ content: NotificationContent,
        _ rules: ConsentRules,
        now: Timestamp,
        in database: any SQLConnection
    ) throws {
        (self.app, self.environment, self.kind) = (app, environment, content.tokenKind)
        self.columns = try ConsentColumns(content, rules, app: app.id, in: database)
        self.cap = rules.ignoresCap ? nil : app.cap
        (self.now, self.database) = (now, database)
    }

    /// A Boolean value that indicates whether no recipient can be skipped, so that grouping is unnecessary.
    var isEmpty: Bool { self.columns.isEmpty && self.cap == nil }

    private var selected: (names: [String], arguments: [SQLValue]) {
        let groups = self.columns.groups
        guard let cap = self.cap else { return (["device.timeZone", "0"] + groups.names, groups.arguments) }
        let isCapReached = """
            (SELECT count(*) FROM capUse WHERE capUse.app = device.app AND at > ?
                AND holder = coalesce('user:' || device.user, 'device:' || device.id)) >= ?
            """
        let since = self.now.advanced(by: .zero - .seconds(cap.window)).milliseconds
        let arguments = [since.sqlValue, cap.count.sqlValue] + groups.arguments
        return (["device.timeZone", isCapReached] + groups.names, arguments)
    }

    /// Decodes the group in a row, whose first column is the number of recipients.
    private func group(_ statement: any SQLStatement, count: Int) -> ConsentGroup {
        ConsentGroup(
            consent: self.columns.consent(statement, from: 3) ?? RecipientConsent(),
            timeZone: statement.text(1),
            isCapReached: statement.integer(2) != 0,
            count: count
        )
    }

    /// Returns the groups of the active devices that match an expression, or `nil` if there are too many groups.
    func groups(of expression: AudienceExpression) throws -> [ConsentGroup]? {
        let filter = AudienceSQL(expression, app: self.app.id, self.database.attributes)
        let selected = self.selected
        let most = Int(clamping: try DeviceCount.devices(of: self.app.id, in: self.database).count / 3)
        let driver = try AudienceDriver.choose(
            expression,
            of: self.kind,
            app: self.app.id,
            limit: most,
            in: self.database
        )
        let index = driver != nil ? "NOT INDEXED" : "INDEXED BY deviceByApp"
        let groups = selected.names.indices.map { "\($0 + 2)" }.joined(separator: ", ")
        let sql = """
            SELECT count(*), \(selected.names.joined(separator: ", ")) FROM device \(index)
            WHERE app = ? AND isActive = 1\(AudienceSQL.only(self.environment, self.kind)) AND \(filter.sql)\
            \(driver.condition) GROUP BY \(groups) LIMIT \(SQLStore.maximumConsentGroups + 1)
            """
        var arguments = selected.arguments + [self.app.id.sqlValue] + filter.arguments
        arguments += driver?.arguments(after: .min, upTo: .max) ?? []
        let statement = try self.database.prepare(sql, isKept: false)
        defer { statement.reset() }
        for (index, argument) in arguments.enumerated() { statement.bind(argument, at: Int32(index) + 1) }
        var found: [ConsentGroup] = []
        while try statement.step() {
            found.append(self.group(statement, count: Int(clamping: statement.integer(0))))
        }
        return found.count > SQLStore.maximumConsentGroups ? nil : found
    }

    /// Returns a group for each named token, registered or not, except tokens that are registered as another kind.
    ///
    /// It includes inactive devices, as ``RecipientQuery`` does, because the request names their tokens.
    func groups(of tokens: [DeviceToken]) throws -> [ConsentGroup] {
        let selected = self.selected
        let sql = """
            SELECT kind, \(selected.names.joined(separator: ", ")) FROM device
            WHERE app = ? AND environment = ? AND token = ? AND hasLeft = 0
            """
        let statement = try self.database.prepare(sql, isKept: false)
        // Without an environment in the request, a named token is sent to in production.
        let environment = self.environment ?? .production
        return try tokens.compactMap { token in
            defer { statement.reset() }
            let place = [self.app.id.sqlValue, environment.code.sqlValue, token.sqlValue]
            for (index, argument) in (selected.arguments + place).enumerated() {
                statement.bind(argument, at: Int32(index) + 1)
            }
            guard try statement.step() else {
                guard let consent = self.columns.unregistered else { return nil }
                return ConsentGroup(consent: consent, timeZone: nil, isCapReached: false, count: 1)
            }
            if let kind = self.kind, statement.integer(0) != kind.code { return nil }
            return self.group(statement, count: 1)
        }
    }
}
