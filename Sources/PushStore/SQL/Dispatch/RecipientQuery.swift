import Foundation
import ProviderModel
import PushTypes

/// A query for recipients: for a page of devices or named tokens after a cursor, or for single recipients to retry.
struct RecipientQuery: Sendable {
    /// The recipients of a page, in ascending order of their positions.
    struct Found {
        var recipients: [Recipient] = []
        var ended: [EndedRetry] = []
        var held: [Int64] = []

        /// Adds a named token to ``recipients``, or to ``ended`` if nothing can be sent to it.
        mutating func add(_ named: Named, position: Int64) {
            if let recipient = named.recipient, !named.isOfOtherKind {
                self.recipients.append(recipient)
            } else {
                self.ended.append(RecipientQuery.ended(-position, named.lack, named.recipient))
            }
        }
    }

    /// The source of the recipients: the devices of an audience, or the tokens that the notification names.
    private enum Source {
        case devices(DeviceFilter)
        case targets
    }

    private let source: Source
    let number, app: Int64
    let notification: NotificationRecord
    /// The value of the registration clock, a counter of device changes, at the notification's opening. Devices with
    /// higher values have changed since.
    let openedAfter: Int64
    let zone: ShardPlan.Zone
    let shard: Int64
    private let cursor, end: Int64
    private let limit: Int
    private let columns: [(need: RecipientProfileFields, name: String)]
    private let consent: ConsentColumns
    /// The columns of `device`, in the order in which ``device(_:)`` reads them.
    private let columnList: String

    init(
        _ claim: ShardClaim,
        limit: Int,
        needs: RecipientProfileFields,
        consent: ConsentColumns = .none,
        _ attributes: AttributeColumns
    ) {
        let notification = claim.notification
        (self.number, self.app, self.notification) = (claim.notificationNumber, notification.app, notification)
        (self.openedAfter, self.zone, self.shard) = (claim.openedAfter, claim.zone, claim.shard)
        (self.cursor, self.end, self.limit) = (claim.cursor, claim.end, limit)
        (self.columns, self.consent) = (Self.columns(needs, consent), consent)
        self.columnList = Self.list(self.columns, consent)
        if case .devices(let audience) = notification.audience {
            self.source = .devices(DeviceFilter(claim, audience: audience, attributes))
        } else {
            self.source = .targets
        }
    }

    /// Creates a query for single recipients of a notification.
    /// - Parameter needs: The fields of the profiles to read, or `nil` for those in ``NotificationRecord/retryNeeds``.
    init(
        _ notification: NotificationRecord,
        number: Int64,
        openedAfter: Int64,
        needs: RecipientProfileFields? = nil,
        consent: ConsentColumns = .none
    ) {
        (self.number, self.app, self.notification) = (number, notification.app, notification)
        (self.openedAfter, self.zone, self.shard) = (openedAfter, .any, -1)
        (self.cursor, self.end, self.limit) = (0, 0, 1)
        (self.columns, self.consent) = (Self.columns(needs ?? notification.retryNeeds, consent), consent)
        self.columnList = Self.list(self.columns, consent)
        self.source = .targets
    }

    private static func columns(_ needs: RecipientProfileFields, _ consent: ConsentColumns) -> [(
        RecipientProfileFields, String
    )] {
        // Quiet hours are in the local time of the device, so its time zone is needed.
        let needs = consent.asksQuietHours ? needs.union(.timeZone) : needs
        let all: [(RecipientProfileFields, String)] = [
            (.user, "user"), (.locale, "locale"), (.timeZone, "timeZone"), (.appVersion, "appVersion"),
            (.attributes, "attributes"),
        ]
        return all.filter { needs.contains($0.0) }
    }

    private static func list(_ columns: [(RecipientProfileFields, String)], _ consent: ConsentColumns) -> String {
        let names = columns.map { "device.\($0.1)" } + consent.names
        return names.reduce(
            """
            device.id, device.token, device.environment, device.registeredAt, device.suspicions, device.churn, \
            device.twin, device.hasLeft, device.kind
            """
        ) { "\($0), \($1)" }
    }

    /// Reads the page.
    /// - Parameter driver: The index ranges that find the devices of a narrow audience, or `nil` to scan all devices.
    func fetch(driver: AudienceDriver? = nil, in database: any SQLConnection) throws -> Found {
        switch self.source {
        case .devices(let filter): try self.devices(filter, driver: driver, in: database)
        case .targets: try self.targets(in: database)
        }
    }

    private func devices(_ filter: DeviceFilter, driver: AudienceDriver?, in database: any SQLConnection) throws
        -> Found
    {
        let (sql, arguments) = self.text(filter, driver: driver)
        // Only the prepared statements that several notifications share are cached.
        let statement = try database.prepare(sql, isKept: filter.isCommon && driver == nil)
        defer { statement.reset() }
        for (index, argument) in arguments.enumerated() { statement.bind(argument, at: Int32(index) + 1) }
        var found = Found()
        found.recipients.reserveCapacity(self.limit)
        let changes = RecipientChanges(self)
        while try statement.step() {
            if changes.mayConcern(statement), try changes.holds(statement.integer(0), in: database) {
                found.held.append(statement.integer(0))
            } else if let recipient = self.device(statement) {
                found.recipients.append(recipient)
            } else {
                found.ended.append(Self.ended(statement.integer(0), .unreadable))
            }
        }
        return found
    }

    /// Returns the ids, above the cursor and up to `last`, of devices removed since the notification was opened.
    func left(upTo last: Int64, in database: any SQLConnection) throws -> [Int64] {
        guard case .devices(let filter) = self.source else { return [] }
        let range = "FROM device INDEXED BY deviceLeft WHERE app = ? AND id > ? AND id <= ? AND hasLeft = 1"
        guard try database.hasRow(sql: "SELECT 1 \(range) LIMIT 1", self.app, self.cursor, last) else { return [] }
        let sql = "SELECT id \(range) AND churn > ? AND \(filter.condition) ORDER BY id LIMIT ?"
        let bounds = [self.app, self.cursor, last, self.openedAfter].map(\.sqlValue)
        let arguments = SQLArguments(bounds + filter.arguments + [self.limit.sqlValue])
        return try database.integers(sql: sql, arguments, isKept: false)
    }

    fileprivate static func ended(_ id: Int64, _ cause: EndingCause, _ recipient: Recipient? = nil) -> EndedRetry {
        EndedRetry(id: id, recipient: recipient, attempts: 0, cause: cause)
    }

    func text(_ filter: DeviceFilter, driver: AudienceDriver?) -> (sql: String, arguments: [SQLValue]) {
        let sql = """
            SELECT \(self.columnList) FROM device \(driver == nil ? filter.index : "NOT INDEXED")
            WHERE app = ? AND id > ? AND id <= ? AND isActive = 1 AND \(filter.condition)\(driver.condition)
            ORDER BY id LIMIT ?
            """
        var arguments = [self.app, self.cursor, self.end].map(\.sqlValue) + filter.arguments
        if let driver { arguments += driver.arguments(after: self.cursor, upTo: self.end) }
        return (sql, arguments + [self.limit.sqlValue])
    }

    private func device(_ statement: any SQLStatement) -> Recipient? {
        guard let token = statement.token(1), let environment = PushEnvironment(code: statement.integer(2))
        else { return nil }
        let id = statement.integer(0)
        var recipient = Recipient(
            id: id,
            device: id,
            token: token,
            environment: environment,
            registeredAt: Timestamp(milliseconds: statement.integer(3))
        )
        recipient.isSuspected = statement.integer(4) > 0
        recipient.profile = self.profile(statement)
        recipient.consent = self.consent.consent(statement, from: Int32(9 + self.columns.count))
        return recipient
    }

    private func profile(_ statement: any SQLStatement) -> RecipientProfile? {
        guard !self.columns.isEmpty else { return nil }
        var profile = RecipientProfile()
        for (index, column) in self.columns.enumerated() {
            let position = Int32(index) + 9
            switch column.need {
            case .user: profile.user = statement.text(position)
            case .locale: profile.locale = statement.text(position)
            case .timeZone: profile.timeZone = statement.text(position)
            case .appVersion: profile.appVersion = statement.text(position)
            default: profile.attributes = statement.isNull(position) ? nil : Data(statement.bytes(position))
            }
        }
        return profile
    }

    private func targets(in database: any SQLConnection) throws -> Found {
        let sql = "SELECT position FROM target WHERE notification = ? AND position > ? ORDER BY position LIMIT ?"
        var found = Found()
        for position in try database.integers(sql: sql, [self.number, self.cursor, self.limit]) {
            found.add(try self.target(position, in: database), position: position)
        }
        return found
    }

    /// A token that a notification names, with its registration if there is one.
    struct Named {
        /// The recipient, or `nil` if the row cannot be read.
        var recipient: Recipient?
        /// A Boolean value that indicates whether the token gets no push, because it is registered as another kind.
        var isOfOtherKind = false
        /// A Boolean value that indicates whether the token was erased with its user.
        var isErased = false
        /// The kind with which the token is registered, or `nil` if it is not registered or if the kind cannot be read.
        var kind: DeviceTokenKind?

        /// The reason for which nothing is sent to the token. It has no meaning for a token that can be sent to.
        var lack: EndingCause { self.isErased ? .erased : self.isOfOtherKind ? .otherKind : .unreadable }
    }

    /// Returns the token that the notification names at a position, with its device if it is registered. A broadcast's
    /// channel has none.
    private func target(_ position: Int64, in database: any SQLConnection) throws -> Named {
        let named = "SELECT token, environment FROM target WHERE notification = ? AND position = ?"
        let statement = try database.prepare(named)
        defer { statement.reset() }
        statement.bind(self.number, position)
        if case .channel(let channel) = self.notification.audience {
            guard try statement.step(), let environment = PushEnvironment(code: statement.integer(1))
            else { return Named() }
            let token = DeviceToken(standingFor: channel.id)
            return Named(recipient: Recipient(id: -position, device: nil, token: token, environment: environment))
        }
        guard try statement.step() else { return Named() }
        guard !statement.bytes(0).isEmpty else { return Named(isErased: true) }
        guard let token = statement.token(0), let environment = PushEnvironment(code: statement.integer(1))
        else { return Named() }
        return try self.named(token, in: environment, position: position, database)
    }

    /// Returns a named token, with its device if it is registered.
    func named(
        _ token: DeviceToken,
        in environment: PushEnvironment,
        position: Int64,
        _ database: any SQLConnection
    ) throws -> Named {
        let registered =
            "SELECT \(self.columnList) FROM device WHERE app = ? AND environment = ? AND token = ? AND hasLeft = 0"
        let device = try database.prepare(registered)
        defer { device.reset() }
        device.bind(self.app, environment.code)
        device.bind(token.bytes, at: 3)
        guard try device.step() else {
            var recipient = Recipient(id: -position, device: nil, token: token, environment: environment)
            recipient.consent = self.consent.unregistered
            return Named(recipient: recipient)
        }
        var recipient = self.device(device)
        recipient?.id = -position
        return Named(
            recipient: recipient,
            isOfOtherKind: self.isOfOtherKind(device),
            kind: DeviceTokenKind(code: device.integer(8))
        )
    }

    private func isOfOtherKind(_ statement: any SQLStatement) -> Bool {
        guard let kind = self.notification.content.tokenKind else { return false }
        return statement.integer(8) != kind.code
    }
}

/// Decides whether a device of a page has to wait until all shards have been read.
///
/// A device has to wait if the notification may have been sent to its token by another device: by one whose token it
/// took over, by one that was merged into it, or by its twin in the other environment. It also has to wait if the
/// notification may have been sent to it in its former time zone.
private struct RecipientChanges {
    private let query: RecipientQuery
    private let zone: ShardPlan.Zone
    private let shard: Int64

    init(_ query: RecipientQuery) {
        self.query = query
        (self.zone, self.shard) = (query.zone, query.shard)
    }

    /// Returns whether the device of a row may have to wait, which is rare. It needs no further query.
    func mayConcern(_ row: any SQLStatement) -> Bool {
        !row.isNull(5) && row.integer(5) > self.query.openedAfter
            || !row.isNull(6) && self.query.notification.environment == nil
    }

    func holds(_ device: Int64, in database: any SQLConnection) throws -> Bool {
        if try self.hasTwinOrLink(device, in: database) { return true }
        guard self.zone != .any else { return false }
        // A page in flight of the former time zone may contain the device.
        let sql = "SELECT 1 FROM shard WHERE notification = ? AND number != ? AND lease IS NOT NULL LIMIT 1"
        return try database.hasRow(sql: sql, self.query.number, self.shard)
    }

    private func hasTwinOrLink(_ device: Int64, in database: any SQLConnection) throws -> Bool {
        let sql = """
            SELECT 1 FROM device WHERE id = ?1 AND (
                ?3 != 0 AND twin IS NOT NULL
                OR EXISTS (SELECT 1 FROM deviceLink WHERE deviceLink.device = ?1 AND since > ?2))
            """
        let isOfBoth: Int64 = self.query.notification.environment == nil ? 1 : 0
        return try database.hasRow(sql: sql, device, self.query.openedAfter, isOfBoth)
    }
}

extension RecipientQuery {
    /// The next step in the processing of a queued recipient.
    enum NextStep {
        case now(RetryRecipient)
        /// A step that postpones the recipient, because another one may still get the notification with the same token.
        ///
        /// The associated value is the due time of the other recipient's next attempt, or `nil` if it is unknown.
        case later(until: Timestamp?)
        /// A step that postpones the recipient until all others have their final states, because its device may return.
        ///
        /// The associated value is the result for the recipient if the device does not return.
        case last(EndedRetry)
    }

    /// Decides whether a recipient is sent to again at its current token, has to wait, or gets its final state.
    /// - Parameter fence: The fencing number of the lease under which the recipient was claimed.
    func fetch(_ retry: DueRetry, fence: Int64, isCancelled: Bool, in database: any SQLConnection) throws -> NextStep {
        var (recipient, lack, hasLeft) = try self.current(retry, in: database)
        recipient?.attempts = retry.attempts
        recipient?.mayHaveArrived = retry.mayHaveArrived
        if let home = recipient?.environment, let environment = retry.environment, environment != home {
            recipient?.movedFrom = home
            recipient?.environment = environment
        }
        var cause: EndingCause? = isCancelled ? .cancelled : nil
        if retry.isInterrupted { cause = .interrupted }
        if cause == nil, lack == .otherKind || lack == .erased { cause = lack }
        if cause == nil, let recipient, recipient.id > 0 {
            switch try self.decide(recipient, fence: fence, in: database) {
            case .send: break
            case .wait(let until): return .later(until: until)
            case .end(let reason): cause = reason
            }
        }
        if cause == nil, let recipient { return .now(.due(recipient)) }
        let end = EndedRetry(
            id: retry.recipient,
            recipient: recipient,
            attempts: retry.attempts,
            cause: cause ?? lack,
            mayHaveArrived: retry.mayHaveArrived || retry.isInterrupted
        )
        return cause == nil && hasLeft ? .last(end) : .now(.ended(end))
    }

    /// Returns the recipient as it is now (or `nil` if it cannot be read), the cause that applies if nothing can be
    /// sent to it, and whether its device was removed and may return.
    private func current(
        _ retry: DueRetry,
        in database: any SQLConnection
    ) throws -> (Recipient?, orElse: EndingCause, hasLeft: Bool) {
        if retry.recipient < 0 {
            let named = try self.target(-retry.recipient, in: database)
            return (named.recipient, named.lack, false)
        }
        let statement = try database.prepare("SELECT \(self.columnList) FROM device WHERE id = ?")
        defer { statement.reset() }
        statement.bind(retry.recipient, at: 1)
        guard try statement.step() else { return (nil, .deviceRemoved, false) }
        guard statement.integer(7) == 0 else { return (nil, .deviceRemoved, statement.integer(7) == 1) }
        return (self.device(statement), self.isOfOtherKind(statement) ? .otherKind : .unreadable, false)
    }

    private enum Decision {
        case send
        case wait(until: Timestamp?)
        case end(EndingCause)
    }

    /// Decides whether to send to a recipient, from the states of its device and of linked devices.
    private func decide(_ recipient: Recipient, fence: Int64, in database: any SQLConnection) throws -> Decision {
        if recipient.movedFrom != nil, try self.isRegistered(recipient, in: database) {
            return .end(.registeredElsewhere)
        }
        // The recipient's device has moved to the other environment.
        if let only = self.notification.environment, recipient.environment != only { return .end(.leftAudience) }
        let changes = "SELECT churn, twin FROM device WHERE id = ? AND (churn > ? OR twin IS NOT NULL)"
        guard let row = try database.row(sql: changes, [recipient.id, self.openedAfter]) else { return .send }
        let hasChanged = (row["churn"] as Int64? ?? 0) > self.openedAfter
        if hasChanged, try !self.isInAudience(recipient.id, in: database) { return .end(.leftAudience) }
        if hasChanged, try SentTokenHistory.remembers(recipient.token, of: self.number, in: database) {
            return .end(.hadAlready)
        }
        var others = try self.links(of: recipient.id, in: database)
        // A device that has returned may have a higher id than the twin that waited for it.
        if hasChanged { others += try self.laterTwins(of: recipient.id, in: database) }
        if self.notification.environment == nil, let twin = row["twin"] as Int64? { others.append((twin, true)) }
        var decision = Decision.send
        for (other, countsAll) in others {
            switch try self.decision(by: other, for: recipient, countsAll: countsAll, fence: fence, in: database) {
            case .send: continue
            case .wait(let until): decision = .wait(until: until)
            case .end(let cause): return .end(cause)
            }
        }
        return decision
    }

    /// Returns whether another device is registered with the token in the environment of the attempt.
    private func isRegistered(_ recipient: Recipient, in database: any SQLConnection) throws -> Bool {
        let sql = "SELECT 1 FROM device WHERE app = ? AND token = ? AND environment = ? AND hasLeft = 0 AND id != ?"
        let (token, environment) = (recipient.token.sqlValue, recipient.environment.code)
        return try database.hasRow(sql: sql, [self.app, token, environment, recipient.id])
    }

    private func isInAudience(_ device: Int64, in database: any SQLConnection) throws -> Bool {
        guard case .devices(let audience) = self.notification.audience, audience != .everyone else { return true }
        let filter = AudienceSQL(audience, app: self.app, database.attributes)
        let arguments = SQLArguments([device.sqlValue] + filter.arguments)
        let sql = "SELECT 1 FROM device WHERE id = ? AND \(filter.sql)"
        return try database.hasRow(sql: sql, arguments, isKept: false)
    }

    /// Returns the devices to which a device was linked after the notification was opened, and whether all pushes to
    /// each of them count, as in ``decision(by:for:countsAll:fence:in:)``.
    private func links(of device: Int64, in database: any SQLConnection) throws -> [(other: Int64, countsAll: Bool)] {
        let sql = "SELECT other, countsAll FROM deviceLink WHERE device = ? AND since > ?"
        return try database.rows(sql: sql, [device, self.openedAfter]).compactMap { row in
            (row["other"] as Int64?).map { ($0, row["countsAll"] as Bool? ?? true) }
        }
    }

    /// Returns the device's twin in the other environment if the twin has the higher id, or an empty array otherwise.
    private func laterTwins(of device: Int64, in database: any SQLConnection) throws -> [(
        other: Int64, countsAll: Bool
    )] {
        guard self.notification.environment == nil else { return [] }
        return try database.integers(sql: "SELECT id FROM device WHERE twin = ?", [device]).map { ($0, true) }
    }

    /// Decides about a recipient from the state of a linked one.
    /// - Parameter countsAll: Whether the final state of the linked recipient counts. If `false`, only its push in
    ///   flight matters, because ``SentTokenHistory`` has recorded the earlier ones.
    private func decision(
        by other: Int64,
        for recipient: Recipient,
        countsAll: Bool,
        fence: Int64,
        in database: any SQLConnection
    ) throws -> Decision {
        let sql = """
            SELECT delivery.state, retry.attempts, retry.lease, retry.dueAt, retry.recipient IS NOT NULL AS waits,
                coalesce((SELECT hasLeft FROM device WHERE id = ?2), 1) AS hasLeft, EXISTS (
                    SELECT 1 FROM shard
                    WHERE shard.notification = ?1 AND isDone = 0 AND cursor < ?2 AND upTo >= ?2) AS isAhead
            FROM (SELECT ?1 AS notification, ?2 AS recipient) AS wanted
            LEFT JOIN delivery ON delivery.notification = wanted.notification
                AND delivery.recipient = wanted.recipient
            LEFT JOIN retry ON retry.notification = wanted.notification AND retry.recipient = wanted.recipient
            """
        guard let row = try database.row(sql: sql, [self.number, other]) else { return .send }
        if let state = row.value("state") as DeliveryRecord.State? {
            switch state {
            case .sending: return .wait(until: nil)
            case .accepted: return countsAll ? .end(.hadAlready) : .send
            // Under `atMostOnce`, the push may have reached the other device.
            case .unknown where self.notification.guarantee == .atMostOnce: return countsAll ? .end(.hadAlready) : .send
            case .rejected, .failed, .skipped, .unknown: return .send
            }
        }
        guard row["waits"] as Bool? == true else { return row["isAhead"] as Bool? == true ? .wait(until: nil) : .send }
        if let lease = row["lease"] as Int64?, lease != fence { return .wait(until: nil) }
        // A recipient whose device was removed waits for all others itself.
        guard countsAll, row["hasLeft"] as Bool? != true else { return .send }
        let isTried = (row["attempts"] as Int? ?? 0) > 0
        // Recipients with an earlier attempt precede others, then lower ids precede higher ones, so that no two wait
        // for each other.
        let isFirst = (isTried ? 0 : 1, other) < (recipient.attempts > 0 ? 0 : 1, recipient.id)
        return isFirst ? .wait(until: row.time("dueAt")) : .send
    }
}
