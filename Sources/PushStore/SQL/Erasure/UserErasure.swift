import Foundation
import ProviderModel
import PushSupport
import PushTypes

/// Erases a user of an app in steps, each of which is a transaction of bounded size.
///
/// A notification to this user alone is deleted, with its ledger. Any other notification stays, and the user and the
/// user's tokens are removed from its audience. The contents of notifications to others are not searched.
struct UserErasure {
    /// The maximum number of the user's devices that one step erases.
    private static let devicesAtOnce = 20
    private static let notificationsAtOnce = 100
    /// The maximum number of tokens that one search looks for. With more, it looks for audiences that name any token.
    private static let tokensOfSearch = 50

    /// The id of the erasure, whose row stores the tokens of erased devices, or 0 if the erasure is not stored yet.
    let id: Int64
    let user: String
    let app: Int64
    let now: Timestamp
    let database: any SQLConnection

    /// Erases all data under the user's name at the time of the request, except notifications and devices.
    /// - Parameter requests: The stored requests that name the user or the user's tokens, and from which later
    ///   notifications would be created.
    func eraseProfile(_ requests: [StoredRequest]) throws {
        for table in StoredTable.names(with: .user) {
            try self.database.run(sql: "DELETE FROM \(table) WHERE app = ? AND user = ?", [self.app, self.user])
        }
        try self.eraseCounts()
        try self.eraseUser(from: requests)
    }

    /// Erases counts that were written for the user after the request, and data about the tokens of erased devices.
    func eraseRest() throws {
        try self.eraseCounts()
        for token in try self.tokens() { try self.erase(token) }
    }

    /// Returns whether a device became the user's after the request for erasure, so that data under the user's name may
    /// be newer than the request.
    func hasReturned() throws -> Bool {
        let sql = "SELECT 1 FROM device WHERE app = ?1 AND user = ?2 AND \(RegistrationChanges.userChange) > ?3"
        return try self.database.hasRow(sql: sql, [self.app, self.user, try self.lastAtRequest()])
    }

    /// The user's name as a JSON string in quotation marks, for searches in stored JSON.
    var needle: String { get throws { try Self.json(self.user) } }

    private static func json(_ text: String) throws -> String {
        String(decoding: try JSONValue.string(text).text, as: UTF8.self)
    }

    // MARK: Notifications

    /// Returns some of the notifications from before the request whose audience names the user or a token of the user.
    func notifications() throws -> [Int64] {
        let tokens = try self.allTokens()
        let rows = try self.candidates(tokens)
        var found: [Int64] = []
        while found.count < Self.notificationsAtOnce, let row = try rows.next() {
            guard let number = row["number"] as Int64?, let audience = Self.audience(row) else { continue }
            if audience.isOnly(self.user) || audience.without(self.user, tokens) != audience { found.append(number) }
        }
        return found
    }

    /// Returns the notifications from before the request whose stored audience contains the user's name or one of the
    /// tokens. If there are more tokens than ``tokensOfSearch``, it returns those that name any token.
    func candidates(_ tokens: Set<DeviceToken>) throws -> SQLRowCursor {
        var needles = [try self.needle]
        if tokens.count > Self.tokensOfSearch {
            needles.append(#""token":"#)
        } else {
            // Audiences are stored in a canonical form, so that a token can be found by a text search.
            needles += try tokens.map { try Self.json($0.hex) }
        }
        let isNamed = needles.map { _ in "instr(audience, ?) > 0" }.joined(separator: " OR ")
        let sql = """
            SELECT number, audience FROM notification
            WHERE app = ? AND number <= (SELECT lastNotification FROM erasure WHERE id = ?) AND (\(isNamed))
            """
        let arguments = [self.app.sqlValue, self.id.sqlValue] + needles.map(\.sqlValue)
        return try self.database.cursor(sql: sql, SQLArguments(arguments), isKept: false)
    }

    /// Erases rows of a notification to this user alone, or removes the user and the user's tokens from its audience.
    /// - Returns: Whether rows of the notification remain.
    func eraseNotification(_ number: Int64) throws -> Bool {
        let sql = "SELECT audience FROM notification WHERE number = ?"
        guard let row = try self.database.row(sql: sql, [number]), let audience = Self.audience(row)
        else { return false }
        guard audience.isOnly(self.user) else {
            let rest = try audience.without(self.user, self.allTokens()).json.text
            let sql = "UPDATE notification SET audience = ? WHERE number = ?"
            try self.database.run(sql: sql, [String(decoding: rest, as: UTF8.self), number])
            return false
        }
        let end = """
            UPDATE notification SET state = 'cancelled', finishedAt = ?
            WHERE number = ? AND state NOT IN ('done', 'cancelled')
            """
        try self.database.run(sql: end, self.now.milliseconds, number)
        return try NotificationErasure(number: number, limit: SQLStore.erasedAtOnce, database: self.database).step()
    }

    private static func audience(_ row: SQLRow) -> AudienceExpression? {
        guard let text = row["audience"] as String? else { return nil }
        return (try? JSONValue(parsing: Data(text.utf8))).flatMap(AudienceExpression.init(stored:))
    }

    // MARK: Devices

    /// The SQL condition that a device's user got it before the request. `?3` is the last change before the request.
    private static let wasUsersAtRequest = "\(RegistrationChanges.userChange) <= ?3"

    /// Returns some of the devices that belonged to the user at the request and still do, together with the devices of
    /// their installations that never had a user.
    /// - Parameter limit: The maximum number of the user's own devices.
    func devices(limit: Int = Self.devicesAtOnce) throws -> [Int64] {
        // All devices without a user are included, because they could not be found once the user's device is erased.
        let sql = """
            WITH own AS (
                SELECT id, installation FROM device WHERE app = ?1 AND user = ?2 AND \(Self.wasUsersAtRequest) LIMIT ?4)
            SELECT id FROM own
            UNION SELECT id FROM device WHERE app = ?1 AND user IS NULL AND installation IN (
                SELECT installation FROM own WHERE installation IS NOT NULL)
            """
        let arguments: SQLArguments = [self.app, self.user, try self.lastAtRequest(), limit]
        return try self.database.integers(sql: sql, arguments)
    }

    /// Returns the number of the last change of a device's user before the request, or the maximum if none is stored.
    private func lastAtRequest() throws -> Int64 {
        guard self.id != 0 else { return .max }
        return try self.database.integer(sql: "SELECT lastChange FROM erasure WHERE id = ?", [self.id]) ?? .min
    }

    /// Erases some of the user's devices, and stores their tokens with the erasure.
    /// - Parameter searched: The devices whose receipts have been searched. Other devices are left to a later step.
    func eraseDevices(_ searched: [Int64]) throws {
        let devices = Set(searched).intersection(try self.devices()).sorted()
        guard !devices.isEmpty else { return }
        let tokens = try self.tokens().union(self.tokens(of: devices))
        for device in devices {
            for receipt in try self.lateReceipts(of: device) { try self.anonymize(receipt) }
            let since = try DeviceUsers(app: self.app, database: self.database).lastEnd(of: device)
            // In notifications in progress, an erased device is only a number.
            try self.eraseDeliveries(of: UserPeriod(device: device, since: since))
            try self.database.run(sql: "DELETE FROM tokenEvent WHERE app = ? AND device = ?", [self.app, device])
            try self.eraseCounts(of: "device:\(device)")
            for table in StoredTable.names(with: .installation) {
                let sql = """
                    DELETE FROM \(table)
                    WHERE app = ?1 AND installation = (SELECT installation FROM device WHERE id = ?2)
                    """
                try self.database.run(sql: sql, [self.app, device])
            }
            try RegistrationChanges(app: self.app, database: self.database).erase(device)
        }
        let legacy = "DELETE FROM legacyToken WHERE app = ? AND environment IN (0, 1) AND token = ?"
        for token in tokens { try self.database.run(sql: legacy, [self.app, token.sqlValue]) }
        try self.remember(tokens)
    }

    /// Returns a period of the user on a device that now has another user, with its receipts, or `nil` for none.
    func formerDevice() throws -> (period: UserPeriod, receipts: [ReceiptsOfDevice])? {
        let users = DeviceUsers(app: self.app, database: self.database)
        guard let period = try users.ended(of: self.user, limit: 1).first else { return nil }
        return (period, try self.receipts(in: period))
    }

    /// Erases the deliveries of a period of the user on a device that has another user now, and the events of the
    /// device's tokens in that period.
    ///
    /// A notification in progress keeps its deliveries until it finishes, so that nothing is sent twice.
    func eraseFormerDevice(_ period: UserPeriod) throws {
        let (since, until) = (period.since?.milliseconds ?? .min, period.until?.milliseconds ?? .max)
        let events = "DELETE FROM tokenEvent WHERE app = ? AND device = ? AND at > ? AND at <= ?"
        try self.database.run(sql: events, [self.app, period.device, since, until])
        try self.eraseDeliveries(of: period)
        let inProgress = """
            SELECT 1 FROM notification INDEXED BY notificationUnfinished
            WHERE finishedAt IS NULL AND app = ? AND createdAt <= ? LIMIT 1
            """
        let mayHaveMore = try self.database.hasRow(sql: inProgress, self.app, until)
        try DeviceUsers(app: self.app, database: self.database).forget(period, isErased: !mayHaveMore)
    }

    /// Erases a device's deliveries of a period, in notifications that have finished.
    private func eraseDeliveries(of period: UserPeriod) throws {
        // Deliveries of campaigns have no index by device, so each campaign is searched for the device.
        let campaigns = """
            SELECT number, ?2 FROM notification INDEXED BY notificationInBulk
            WHERE app = ?1 AND lane = 1 AND finishedAt IS NOT NULL
            """
        let hasEnded = """
            EXISTS (SELECT 1 FROM notification
                WHERE number = delivery.notification AND app = ?1 AND finishedAt IS NOT NULL)
            """
        let isInPeriod = "\(DeviceUsers.sentAt) > ?3 AND \(DeviceUsers.sentAt) <= ?4"
        let (since, until) = (period.since?.milliseconds ?? .min, period.until?.milliseconds ?? .max)
        let arguments: SQLArguments = [self.app, period.device, since, until]
        for base in ["(notification, recipient) IN (\(campaigns))", "device = ?2 AND \(hasEnded)"] {
            // A delivery in flight has no outcome yet.
            let sql = "SELECT notification, recipient FROM delivery WHERE \(base) AND state != 0 AND \(isInPeriod)"
            for row in try self.database.rows(sql: sql, arguments) {
                guard let number = row["notification"] as Int64?, let recipient = row["recipient"] as Int64?
                else { continue }
                try self.database.run(sql: "UPDATE notification SET isForgotten = 1 WHERE number = ?", number)
                for table in ["attempt", "delivery"] {
                    let delete = "DELETE FROM \(table) WHERE notification = ? AND recipient = ?"
                    try self.database.run(sql: delete, number, recipient)
                }
            }
        }
    }

    // MARK: Receipts

    struct ReceiptsOfDevice: Hashable {
        var notification, device: Int64

        init?(_ row: SQLRow) {
            guard let notification = row["number"] as Int64?, let device = row["subject"] as Int64? else { return nil }
            (self.notification, self.device) = (notification, device)
        }
    }

    /// Returns the receipts of the given devices. It searches all notifications with receipts.
    func receipts(of devices: [Int64]) throws -> [ReceiptsOfDevice] {
        guard !devices.isEmpty else { return [] }
        let sql = """
            SELECT DISTINCT number, subject FROM notification INDEXED BY notificationWithReceipts
            CROSS JOIN receipt ON receipt.notification = number
                AND subject IN (\(devices.map(String.init).joined(separator: ", ")))
            WHERE notification.app = ? AND receipts = 2
            """
        return try self.database.rows(sql: sql, [self.app], isKept: false).compactMap(ReceiptsOfDevice.init)
    }

    /// Returns the receipts of a device that may have arrived since the search: those of its deliveries, and those of
    /// notifications that are, or recently were, in progress.
    private func lateReceipts(of device: Int64) throws -> [ReceiptsOfDevice] {
        let sql = """
            WITH candidate (number) AS (
                SELECT notification FROM delivery WHERE device = ?2
                UNION SELECT number FROM notification INDEXED BY notificationInBulk WHERE app = ?1 AND lane = 1
                UNION SELECT number FROM notification INDEXED BY notificationWithReceipts
                WHERE app = ?1 AND receipts = 2 AND finishedAt IS NULL
                UNION SELECT number FROM notification INDEXED BY notificationWithReceipts
                WHERE app = ?1 AND receipts = 2 AND finishedAt > ?3)
            SELECT number, ?2 AS subject FROM candidate
            WHERE EXISTS (SELECT 1 FROM receipt WHERE receipt.notification = number AND subject = ?2)
            """
        let since = self.now.advanced(by: .seconds(-3600)).milliseconds
        return try self.database.rows(sql: sql, [self.app, device, since]).compactMap(ReceiptsOfDevice.init)
    }

    func receipts(in period: UserPeriod) throws -> [ReceiptsOfDevice] {
        let isInPeriod = "\(DeviceUsers.sentAt) > ?3 AND \(DeviceUsers.sentAt) <= ?4"
        let sql = """
            SELECT 1 WHERE EXISTS (
                    SELECT 1 FROM delivery WHERE notification = ?1 AND recipient = ?2 AND \(isInPeriod))
                OR EXISTS (SELECT 1 FROM delivery WHERE device = ?2 AND notification = ?1 AND \(isInPeriod))
            """
        let (since, until) = (period.since?.milliseconds ?? .min, period.until?.milliseconds ?? .max)
        return try self.receipts(of: [period.device]).filter { receipt in
            try self.database.hasRow(sql: sql, receipt.notification, period.device, since, until)
        }
    }

    /// Makes receipts anonymous and rounds their times. They remain in the counts.
    func anonymize(_ receipts: ReceiptsOfDevice) throws {
        // Each notification gets a different subject, so that receipts of a device cannot be linked.
        let subject = -(1 << 62) - Int64.random(in: 0..<1 << 62)
        try ReceiptTransaction.round(receipts.notification, receipts.device, event: nil, to: subject, in: self.database)
    }
}

extension AudienceExpression {
    fileprivate func isOnly(_ user: String) -> Bool {
        switch self {
        case .user(let other): other == user
        case .and(let parts): parts.contains { $0.isOnly(user) }
        case .or(let parts): !parts.isEmpty && parts.allSatisfy { $0.isOnly(user) }
        default: false
        }
    }

    /// Returns the audience, with a condition that matches nothing in place of the user and the tokens.
    fileprivate func without(_ user: String, _ tokens: Set<DeviceToken>) -> AudienceExpression {
        switch self {
        case .user(let other) where other == user: .or([])
        case .token(let token) where tokens.contains(token): .or([])
        case .and(let parts): .and(parts.map { $0.without(user, tokens) })
        case .or(let parts): .or(parts.map { $0.without(user, tokens) })
        case .not(let part): .not(part.without(user, tokens))
        default: self
        }
    }
}

/// The erasure of the user's tokens, and of the counts of the user and the user's devices.
extension UserErasure {
    /// Returns the present and former tokens of the user's devices, whether or not the devices are already erased.
    func allTokens() throws -> Set<DeviceToken> {
        try self.tokens().union(self.tokens(of: try self.devices(limit: .max)))
    }

    /// Returns the present and former tokens of the user's devices, except those that another user's device has now.
    func ownTokens() throws -> Set<DeviceToken> {
        let own = Set(try self.devices(limit: .max))
        let sql = "SELECT id FROM device WHERE app = ? AND token = ? AND hasLeft = 0"
        return try self.allTokens().filter { token in
            try self.database.integers(sql: sql, [self.app, token.sqlValue]).allSatisfy(own.contains)
        }
    }

    /// Returns the tokens of the user's devices that have already been erased.
    func tokens() throws -> Set<DeviceToken> {
        let row = try self.database.row(sql: "SELECT tokens FROM erasure WHERE id = ?", [self.id])
        guard let row, let texts = row["tokens"] as String? else { return [] }
        return Set(texts.split(separator: " ").compactMap { DeviceToken(hex: String($0)) })
    }

    private func tokens(of devices: [Int64]) throws -> Set<DeviceToken> {
        guard !devices.isEmpty else { return [] }
        let ids = devices.map(String.init).joined(separator: ", ")
        let sql = """
            SELECT token FROM device WHERE id IN (\(ids))
            UNION SELECT token FROM tokenEvent WHERE app = ?1 AND device IN (\(ids))
            UNION SELECT token FROM formerToken WHERE app = ?1 AND device IN (\(ids))
            """
        return Set(try self.database.rows(sql: sql, [self.app], isKept: false).compactMap { $0.token("token") })
    }

    /// Removes the tokens that others have registered since the request, before the erasure is extended.
    func releaseTokens() throws {
        let sql = """
            SELECT 1 FROM device WHERE app = ? AND token = ? AND user IS NOT ?
                AND id > (SELECT lastDevice FROM erasure WHERE id = ?)
            """
        let tokens = try self.tokens()
        let taken = try tokens.filter { token in
            try self.database.hasRow(sql: sql, [self.app, token.sqlValue, self.user, self.id])
        }
        for token in taken { try self.erase(token) }
        if !taken.isEmpty { try self.remember(tokens.subtracting(taken)) }
    }

    private func remember(_ tokens: Set<DeviceToken>) throws {
        let text = tokens.map(\.hex).sorted().joined(separator: " ")
        try self.database.run(sql: "UPDATE erasure SET tokens = ? WHERE id = ?", [text, self.id])
    }

    /// Erases the badge counts and cap counts of the user, unless a device became the user's after the request, so that
    /// the counts may be newer than the request.
    func eraseCounts() throws {
        guard try !self.hasReturned() else { return }
        try self.eraseCounts(of: "user:\(self.user)")
    }

    private func eraseCounts(of holder: String) throws {
        for table in StoredTable.names(with: .holder) {
            try self.database.run(sql: "DELETE FROM \(table) WHERE app = ? AND holder = ?", [self.app, holder])
        }
        let sql = "DELETE FROM badgeStep WHERE holder = ?1 AND \(Self.isOfApp("badgeStep"))"
        try self.database.run(sql: sql, [holder, self.app])
    }

    /// Returns the SQL condition that a row belongs to a notification of the app (`?2`). It suits only tables whose
    /// rows belong to notifications in progress, or that have an index for the other conditions.
    private static func isOfApp(_ table: String) -> String {
        "EXISTS (SELECT 1 FROM notification WHERE number = \(table).notification AND app = ?2)"
    }

    /// Erases data about a token from before the request. In a notification that names the token, the token is replaced
    /// by an empty one, so that a recipient that has not been sent to yet is skipped.
    ///
    /// Another user's device may have registered the token since.
    private func erase(_ token: DeviceToken) throws {
        let isEarlier = "device <= (SELECT lastDevice FROM erasure WHERE id = ?3)"
        let isNamed = "notification <= (SELECT lastNotification FROM erasure WHERE id = ?3)"
        for sql in [
            "DELETE FROM tokenEvent WHERE token = ?1 AND app = ?2 AND \(isEarlier)",
            "DELETE FROM formerToken WHERE token = ?1 AND app = ?2 AND \(isEarlier)",
            "DELETE FROM tokenHad WHERE token = ?1 AND \(Self.isOfApp("tokenHad")) AND \(isEarlier)",
            "UPDATE target SET token = x'' WHERE token = ?1 AND \(Self.isOfApp("target")) AND \(isNamed)",
        ] {
            try self.database.run(sql: sql, [token.sqlValue, self.app, self.id])
        }
    }
}
