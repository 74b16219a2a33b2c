import Foundation
import ProviderModel
import PushTypes

/// Accepts notifications within one transaction.
///
/// For each request, all reads precede the first write, which inserts the only row that may conflict with another one.
/// Therefore a failed request leaves nothing behind, and the other requests are still accepted.
struct AcceptanceTransaction {
    private let database: any SQLConnection
    /// The number of this process, as the owner of the leases under which shards are claimed.
    private let owner: Int64
    private let leaseUntil: Timestamp
    /// A Boolean value that indicates whether the transaction has other writes, which the failure of a request must not
    /// undo.
    private let isShared: Bool
    /// The fencing number of the lease that the claimed shards share, or `nil` before the first claim.
    private var fence: Int64?
    private var clock: Int64?
    /// The apps looked up so far, and whether each of them is stopped.
    private var stops: [Int64: Bool] = [:]
    private var consents: [ConsentColumns.Question: ConsentColumns] = [:]

    init(owner: Int64, leaseUntil: Timestamp, isShared: Bool, in database: any SQLConnection) {
        (self.owner, self.leaseUntil, self.isShared, self.database) = (owner, leaseUntil, isShared, database)
    }

    /// Accepts a notification, unless the request repeats an earlier one.
    /// - Returns: The result, or the error of a request that fails without failing the others.
    /// - Throws: An error that ends the transaction.
    mutating func accept(_ request: AcceptanceRequest) throws -> Result<AcceptanceResult, any Error> {
        let draft: Draft
        let number: Int64
        do {
            if let earlier = try self.earlier(request) { return .success(AcceptanceResult(earlier)) }
            // A device that changes after this reading counts as changed after the opening of the notification.
            if case .tokens = request.notification.audience { _ = try self.registrationClock() }
            draft = try self.draft(request)
            if let token = draft.tokenOfOtherKind {
                return .success(AcceptanceResult(.tokenOfOtherKind(token.token, token.kind)))
            }
            if let token = try TokenLookup.inactiveToken(of: request.notification, in: self.database) {
                return .success(AcceptanceResult(.inactiveToken(token)))
            }
            guard try self.hasOriginal(request.notification)
            else { return .success(AcceptanceResult(.originalForgotten)) }
            let opening = draft.tokens == nil || request.shards.isEmpty ? nil : try self.registrationClock()
            number = try self.insert(request, opening: opening)
        } catch let error where self.database.hasEnded(after: error) {
            throw error
        } catch {
            // Another transaction may have accepted the same request at the same time.
            if !self.database.hasOneWriter, let earlier = try self.earlier(request) {
                return .success(AcceptanceResult(earlier))
            }
            return .failure(error)
        }
        return .success(AcceptanceResult(.accepted, claimed: try self.add(draft, of: request, number: number)))
    }

    // MARK: Checks

    /// Returns the response to a request that is not accepted, because it was accepted before, or because its schedule,
    /// issue or chat session has changed, or `nil` if it can be accepted.
    private func earlier(_ request: AcceptanceRequest) throws -> Acceptance? {
        let notification = request.notification
        if let idempotency = request.idempotency,
            let earlier = try NotificationRow.accepted(idempotency, app: notification.app, in: self.database)
        {
            return earlier
        }
        try self.lockOrigin(of: request)
        if let issue = request.issue,
            try PublishingRows(database: self.database).issue(issue)?.state != .published
        {
            return .issueWithdrawn
        }
        if let session = request.session, try !self.hasRecord(session, app: notification.app) { return .sessionRemoved }
        guard let run = notification.run else { return nil }
        let sql = "SELECT * FROM notification WHERE schedule = ? AND runAt = ?"
        if let row = try self.database.row(sql: sql, [run.schedule.uuidString, run.at.milliseconds]) {
            return .repeated(try NotificationRow.record(row, in: self.database))
        }
        guard let version = request.scheduleVersion else { return nil }
        let isCurrent = try ScheduleRows(database: self.database).isCurrent(run.schedule, version: version)
        return isCurrent ? nil : .scheduleChanged
    }

    /// Locks the rows without which the notification would not be accepted.
    private func lockOrigin(of request: AcceptanceRequest) throws {
        let origins = [
            ("issue", request.issue), ("chatSession", request.session), ("notification", request.notification.resendOf),
            ("schedule", request.notification.run?.schedule),
        ]
        for case (let table, let id?) in origins {
            try self.database.lock(.shared, table, where: "id = ?", [id.uuidString])
        }
    }

    /// Returns whether the chat session still exists.
    private func hasRecord(_ session: UUID, app: Int64) throws -> Bool {
        let sql = "SELECT 1 FROM chatSession WHERE id = ? AND app = ?"
        return try self.database.hasRow(sql: sql, [session.uuidString, app])
    }

    /// Returns whether the notification to resend still has all of its deliveries, or `true` if nothing is resent.
    private func hasOriginal(_ notification: NotificationRecord) throws -> Bool {
        guard let original = notification.resendOf else { return true }
        let sql = "SELECT 1 FROM notification WHERE id = ? AND isForgotten = 0"
        return try self.database.hasRow(sql: sql, [original.uuidString])
    }

    /// The tokens that a notification names, and their present registrations.
    private struct Draft {
        /// The named tokens, or `nil` for an audience of devices.
        var tokens: [DeviceToken]?
        var found = RecipientQuery.Found()
        /// The first named token that is registered as another kind than the notification's, or `nil` if there is none.
        var tokenOfOtherKind: (token: DeviceToken, kind: DeviceTokenKind)?
    }

    private mutating func draft(_ request: AcceptanceRequest) throws -> Draft {
        let notification = request.notification
        guard case .tokens(let tokens) = notification.audience else { return Draft() }
        var draft = Draft(tokens: tokens)
        guard request.isClaimed else {
            draft.tokenOfOtherKind = try self.tokenOfOtherKind(than: notification, among: tokens)
            return draft
        }
        let query = RecipientQuery(
            notification,
            number: 0,
            openedAfter: 0,
            consent: try self.consent(notification)
        )
        let environment = notification.environment ?? .production
        for (position, token) in zip(Int64(1)..., tokens) {
            let named = try query.named(token, in: environment, position: position, database)
            if named.isOfOtherKind, let kind = named.kind {
                draft.tokenOfOtherKind = (token, kind)
                return draft
            }
            draft.found.add(named, position: position)
        }
        return draft
    }

    /// Returns the first of many tokens that is registered as another kind than the notification's, or `nil` if there is
    /// none. Nothing else of the registrations is read while others wait for the writer.
    private func tokenOfOtherKind(
        than notification: NotificationRecord,
        among tokens: [DeviceToken]
    ) throws -> (token: DeviceToken, kind: DeviceTokenKind)? {
        guard let wanted = notification.content.tokenKind else { return nil }
        let sql = "SELECT kind FROM device WHERE app = ? AND environment = ? AND token = ? AND hasLeft = 0"
        let registered = try self.database.prepare(sql)
        defer { registered.reset() }
        registered.bind(notification.app, (notification.environment ?? .production).code)
        for token in tokens {
            registered.bind(token.bytes, at: 3)
            if try registered.step(), let kind = DeviceTokenKind(code: registered.integer(0)), kind != wanted {
                return (token, kind)
            }
            registered.reset()
        }
        return nil
    }

    private mutating func consent(_ notification: NotificationRecord) throws -> ConsentColumns {
        let question = ConsentColumns.Question(notification)
        if let known = self.consents[question] { return known }
        let consent = try ConsentColumns(notification, in: self.database)
        self.consents[question] = consent
        return consent
    }

    // MARK: Parts

    /// Inserts the row of a notification.
    /// - Parameter opening: The registration clock's value at its opening, or `nil` if it is not opened yet.
    /// - Returns: The number of the row.
    private func insert(_ request: AcceptanceRequest, opening: Int64?) throws -> Int64 {
        func insertion() throws -> Int64 {
            try NotificationRow.insert(
                request.notification,
                idempotency: request.idempotency,
                opening: opening.map { (clock: $0, at: request.openedAt) },
                in: self.database
            )
        }
        // A transaction with this request alone may end with it, which saves another engine two commands.
        return self.isShared ? try self.database.attempt(insertion) : try insertion()
    }

    /// Adds the shards and the other dependent rows of a notification whose own row was added.
    /// - Returns: The shard if it was claimed for the caller, or `nil` otherwise.
    private mutating func add(_ draft: Draft, of request: AcceptanceRequest, number: Int64) throws -> ClaimedShard? {
        let notification = request.notification
        try NotificationRow.insertTargets(of: notification, number: number, in: self.database)
        if let issue = request.issue {
            // The same transaction assigns the notification to the issue, so that the assignment survives a crash.
            let values: ColumnValues = ["notification": notification.id.uuidString]
            try self.database.update("issue", values, id: issue.uuidString)
        }
        guard let tokens = draft.tokens else {
            let now = request.openedAt
            try Shards.add(request.shards, to: notification, number: number, now: now, in: self.database)
            return nil
        }
        let isClaimed = try self.isClaimable(request) && !tokens.isEmpty
        let fence = isClaimed ? try self.lease() : nil
        for (shard, plan) in zip(Int64(0)..., request.shards) {
            let range = Shards.Range(cursor: 0, last: Int64(tokens.count))
            try Shards.add(range, plan, of: notification, number: number, shard: shard, lease: fence, in: self.database)
        }
        guard let fence, let plan = request.shards.first else { return nil }
        let clock = try self.registrationClock()
        let claim = ShardClaim(
            notification: request.sharedNotification,
            notificationNumber: number,
            shard: 0,
            zone: plan.zone,
            cursor: 0,
            end: Int64(tokens.count),
            isNarrow: false,
            fence: fence,
            openedAfter: clock,
            waitsSince: max(plan.notBefore, notification.startsAt)
        )
        var page = RecipientPage(
            recipients: draft.found.recipients,
            ended: draft.found.ended,
            cursor: claim.end,
            isLast: true
        )
        page.readAt = clock
        return ClaimedShard(claim, page)
    }

    /// Returns whether the notification's shard is ready to be claimed now.
    private mutating func isClaimable(_ request: AcceptanceRequest) throws -> Bool {
        guard request.isClaimed, request.notification.state == .accepted, request.shards.count == 1,
            request.shards.first?.zone == .any
        else { return false }
        return try !self.isStopped(request.notification.app)
    }

    private mutating func isStopped(_ app: Int64) throws -> Bool {
        if let known = self.stops[app] { return known }
        let isStopped = try self.database.hasRow(sql: "SELECT 1 FROM appStop WHERE app = ?", app)
        self.stops[app] = isStopped
        return isStopped
    }

    private mutating func lease() throws -> Int64 {
        if let fence { return fence }
        let fence = try Leases.take(owner: self.owner, until: self.leaseUntil, in: self.database)
        self.fence = fence
        return fence
    }

    private mutating func registrationClock() throws -> Int64 {
        if let clock { return clock }
        let clock = try RegistrationChanges.clock(in: self.database)
        self.clock = clock
        return clock
    }
}
