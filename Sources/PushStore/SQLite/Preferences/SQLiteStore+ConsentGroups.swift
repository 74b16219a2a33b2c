import GRDB
package import PushTypes

extension SQLiteStore {
    package func consentGroups(
        app: AppRecord,
        audience: Audience,
        environment: PushEnvironment?,
        content: NotificationContent,
        rules: ConsentRules,
        now: Timestamp
    ) async throws -> [ConsentGroup] {
        switch audience {
        case .devices(let expression):
            return try await self.groups(app, expression, environment, content, rules, now: now)
        case .tokens(let tokens):
            // SQLite bounds the depth of a condition.
            var groups: [ConsentGroup] = []
            for start in stride(from: 0, to: tokens.count, by: 200) {
                let some = tokens[start..<min(start + 200, tokens.count)].map(AudienceExpression.token)
                // A named token is one of production where the request names no environment.
                groups += try await self.groups(app, .or(some), environment ?? .production, content, rules, now: now)
            }
            return groups
        }
    }

    private func groups(
        _ app: AppRecord,
        _ expression: AudienceExpression,
        _ environment: PushEnvironment?,
        _ content: NotificationContent,
        _ rules: ConsentRules,
        now: Timestamp
    ) async throws -> [ConsentGroup] {
        let kind = content.tokenKind
        let only = Self.only(environment, kind)
        let filter = AudienceSQL(expression, app: app.id)
        let cap = rules.ignoresCap ? nil : app.cap
        return try await self.database.query { database in
            let columns = try ConsentColumns(content, rules, app: app.id, in: database)
            guard !columns.isEmpty || cap != nil else { return [] }
            let isCapReached = """
                (SELECT count(*) FROM capUse WHERE capUse.app = device.app AND at > ?
                    AND holder = coalesce('user:' || device.user, 'device:' || device.id)) >= ?
                """
            let ofGroups = columns.groups
            let names = ["device.timeZone", cap == nil ? "0" : isCapReached] + ofGroups.names
            let most = Int(clamping: try Shards.devices(of: app.id, in: database).count / 3)
            let driver = try AudienceDriver.choose(expression, of: kind, app: app.id, limit: most, in: database)
            let index = driver != nil ? "NOT INDEXED" : "INDEXED BY deviceByApp"
            let groups = names.indices.map { "\($0 + 2)" }.joined(separator: ", ")
            let sql = """
                SELECT count(*), \(names.joined(separator: ", ")) FROM device \(index)
                WHERE app = ? AND isActive = 1\(only) AND \(filter.sql)\(driver.condition) GROUP BY \(groups)
                """
            var arguments: [DatabaseValue] = []
            if let cap {
                let since = now.advanced(by: .zero - .seconds(cap.window)).milliseconds
                arguments += [since.databaseValue, cap.count.databaseValue]
            }
            arguments += ofGroups.arguments + [app.id.databaseValue] + filter.arguments
            arguments += driver?.arguments(after: .min, upTo: .max) ?? []
            let statement = try RawStatement(sql: sql, isKept: false, in: database)
            defer { statement.reset() }
            for (index, argument) in arguments.enumerated() { statement.bind(argument, at: Int32(index) + 1) }
            var found: [ConsentGroup] = []
            while try statement.step() {
                found.append(
                    ConsentGroup(
                        consent: columns.consent(statement, from: 3) ?? RecipientConsent(),
                        timeZone: statement.text(1),
                        isCapReached: statement.integer(2) != 0,
                        count: Int(clamping: statement.integer(0))
                    )
                )
            }
            return found
        }
    }
}
