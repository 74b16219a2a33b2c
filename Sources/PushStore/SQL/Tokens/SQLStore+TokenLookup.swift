package import ProviderModel
package import PushTypes

extension SQLStore {
    package func tokenState(
        of token: DeviceToken,
        app: Int64,
        environment: PushEnvironment
    ) async throws -> TokenState {
        try await self.database.lookup {
            try TokenLookup(app: app, environment: environment, database: $0).tokenState(of: token)
        }
    }

    package func known(
        _ tokens: Set<DeviceToken>,
        app: Int64,
        environment: PushEnvironment
    ) async throws -> Set<DeviceToken> {
        try await self.database.lookup { database in
            let registered = "SELECT 1 FROM device WHERE app = ? AND token = ? AND hasLeft = 0 LIMIT 1"
            let lookup = TokenLookup(app: app, environment: environment, database: database)
            return try tokens.filter { token in
                if try database.hasRow(sql: registered, [app, token.sqlValue]) { return true }
                return try lookup.tokenState(of: token) != .unknown
            }
        }
    }
}

/// Determines the states of tokens that notifications name, within a transaction.
///
/// A registered token is invalid if its device is inactive, which the token invalidation policy decides
/// (docs/decisions/0014). An unregistered token is invalid if the newest response to a push that named it had status
/// 410, and if the circuit breaker of the environment is closed.
struct TokenLookup {
    /// The maximum number of a token's newest pushes that are examined, until one has a final state.
    private static let newestPushes: Int64 = 16
    /// The reasons that come with status 410 (APNs reference 1.9).
    private static let reasons: Set<String> = [Reason.unregistered.rawValue, Reason.expiredToken.rawValue]

    let app: Int64
    let environment: PushEnvironment
    let database: any SQLConnection

    /// Returns the first named token that counts as invalid, or `nil` if there is none or such tokens are accepted.
    static func inactiveToken(of notification: NotificationRecord, in database: any SQLConnection) throws
        -> DeviceToken?
    {
        guard let since = notification.acceptance.tokensSince, case .tokens(let tokens) = notification.audience
        else { return nil }
        let environment = notification.environment ?? .production
        let lookup = TokenLookup(app: notification.app, environment: environment, database: database)
        return try tokens.first { try lookup.tokenState(of: $0).isInvalid(since: since) }
    }

    func tokenState(of token: DeviceToken) throws -> TokenState {
        let registered = try self.isActive(token)
        if registered == false { return .invalid(at: nil) }
        let named = "SELECT notification, position FROM target WHERE token = ? ORDER BY notification DESC LIMIT ?"
        let pushes = try self.database.prepare(named)
        defer { pushes.reset() }
        pushes.bind(token.bytes, at: 1)
        pushes.bind(Self.newestPushes, at: 2)
        while try pushes.step() {
            let end = try self.end(of: pushes.integer(0), pushes.integer(1))
            switch end {
            case .unknown: continue
            case .reached: return .reached
            // The registration is newer than the response, or the circuit breaker keeps the device active.
            case .invalid where registered == true: return .unknown
            case .invalid: return try self.isBreakerOpen() ? .unknown : end
            }
        }
        return .unknown
    }

    private func isActive(_ token: DeviceToken) throws -> Bool? {
        let sql = "SELECT isActive FROM device WHERE app = ? AND environment = ? AND token = ? AND hasLeft = 0"
        let statement = try self.database.prepare(sql)
        defer { statement.reset() }
        statement.bind(self.app, self.environment.code)
        statement.bind(token.bytes, at: 3)
        return try statement.step() ? statement.integer(0) != 0 : nil
    }

    /// Returns the state of a token that follows from the final state of a notification that named it. It is
    /// ``TokenState/unknown`` without a final state, or in another environment.
    private func end(of notification: Int64, _ position: Int64) throws -> TokenState {
        let sql = """
            SELECT delivery.state, delivery.at, (SELECT text FROM reason WHERE id = delivery.reason)
            FROM delivery CROSS JOIN notification ON notification.number = delivery.notification
            WHERE delivery.notification = ? AND delivery.recipient = ?
                AND notification.app = ? AND coalesce(notification.environment, ?) = ?
            """
        let statement = try self.database.prepare(sql)
        defer { statement.reset() }
        statement.bind(notification, -position, self.app, PushEnvironment.production.code, self.environment.code)
        guard try statement.step() else { return .unknown }
        switch DeliveryRecord.State(rawValue: statement.integer(0)) {
        case .accepted: return .reached
        case .rejected where statement.text(2).map(Self.reasons.contains) ?? false:
            return .invalid(at: Timestamp(milliseconds: statement.integer(1)))
        case .sending, .rejected, .failed, .skipped, .unknown, nil: return .unknown
        }
    }

    private func isBreakerOpen() throws -> Bool {
        let sql = "SELECT 1 FROM health WHERE app = ? AND environment = ? AND breakerOpenSince IS NOT NULL"
        return try self.database.hasRow(sql: sql, self.app, self.environment.code)
    }
}
