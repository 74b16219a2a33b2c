import ProviderModel
package import PushTypes

extension SQLStore {
    package func begin(_ page: PageResult, now: Timestamp) async throws -> StartedPage {
        let owner = try await self.owner.number(self.database)
        return try await self.pageWriter.write(to: self.database, now: now) { parts, database in
            try PageCommit.lock([page], in: database)
            let begun = try PageCommit(page, begins: true, owner: owner, now: now, parts: parts, in: database)?.run()
            try parts.end(in: database)
            return begun ?? StartedPage(result: .leaseLost, started: [])
        }
    }

    package func write(_ writes: LedgerBatch, now: Timestamp, leaseUntil: Timestamp) async throws -> LedgerBatchResult {
        let owner = try await self.owner.number(self.database)
        return try await self.pageWriter.write(to: self.database, now: now) { parts, database in
            var acceptance = AcceptanceTransaction(
                owner: owner,
                leaseUntil: leaseUntil,
                isShared: writes.requests.count + writes.pages.count > 1,
                in: database
            )
            let requests = try writes.requests.map { try acceptance.accept($0) }
            try PageCommit.lock(writes.pages, in: database)
            let pages = try writes.pages.map { page in
                try Self.commit(page, owner: owner, now: now, parts: parts, in: database)
            }
            try parts.end(in: database)
            return LedgerBatchResult(requests: requests, pages: pages)
        }
    }

    private static func commit(
        _ page: PageResult,
        owner: Int64,
        now: Timestamp,
        parts: CommitContext,
        in database: any SQLConnection
    ) throws -> CommitResult {
        // A pause concerns the app, and is recorded even if the notification no longer exists.
        for request in page.environmentPauses { _ = try EnvironmentPauseTable.write(request, now: now, in: database) }
        if let whole = try WholePageCommit(page, owner: owner, now: now, parts: parts, in: database) {
            try whole.run()
            return .inProgress
        }
        let commit = try PageCommit(page, begins: false, owner: owner, now: now, parts: parts, in: database)
        return try commit?.run().result ?? .leaseLost
    }
}

extension CommitContext {
    /// Ends the leases of finished shards, and deletes records of devices that no notification needs any more.
    fileprivate func end(in database: any SQLConnection) throws {
        for fence in self.fences { try Leases.end(fence, in: database) }
        for app in self.apps {
            _ = try RegistrationChanges.forget(app: app, limit: NotificationCompletion.forgottenAtOnce, in: database)
        }
    }
}

/// The numbers of accepted, rejected, failed, skipped and unknown recipients, in this order.
struct OutcomeCounts {
    fileprivate var numbers = SIMD8<Int64>()

    mutating func add(_ state: DeliveryRecord.State) {
        if let place = state.place { self.numbers[place] += 1 }
    }
}

extension SQLStatement {
    func bind(_ counts: OutcomeCounts, at position: Int32) {
        for place in 0..<5 { self.bind(counts.numbers[place], at: position + Int32(place)) }
    }
}

/// The insertion or update of the row in the ledger that contains a recipient's state.
struct DeliveryUpsert {
    private let delivery: DeliveryResult
    private let notification: Int64
    private let device: Int64?
    private let trip: Int64?

    init(_ delivery: DeliveryResult, of notification: Int64, lane: NotificationRecord.Lane, trip: Int64?) {
        (self.delivery, self.notification, self.trip) = (delivery, notification, trip)
        // In all other cases the recipient's id is the device's id.
        self.device = lane == .urgent || delivery.recipient < 0 ? delivery.device : nil
    }

    private enum Column: Int, CodingKey, CaseIterable {
        case notification, recipient, state, attempts, at, reason, device, trip
    }

    private static let insertion = IntegerInsertion(
        Column.self,
        into: "delivery",
        key: .recipient,
        """
        ON CONFLICT (notification, recipient) DO UPDATE
        SET state = excluded.state, attempts = excluded.attempts, at = excluded.at, reason = excluded.reason,
            trip = excluded.trip
        WHERE delivery.state = 0 AND excluded.state != 0
        """
    )

    /// Writes the states of a notification's recipients, unless they already have final states.
    /// - Returns: For each of them, whether it was written.
    static func write(
        _ upserts: [DeliveryUpsert],
        _ reasons: ReasonLookup,
        in database: any SQLConnection
    ) throws -> [Bool] {
        var rows = IntegerRows(Self.insertion, capacity: upserts.count)
        for upsert in upserts {
            let delivery = upsert.delivery
            rows.append(
                upsert.notification,
                delivery.recipient,
                delivery.state.rawValue,
                Int64(delivery.attempts),
                delivery.at.milliseconds,
                try delivery.reason.map { try reasons.id(of: DeliveryReason($0), in: database) },
                upsert.device,
                upsert.trip
            )
        }
        return try database.insert(rows, by: Self.insertion)
    }
}

extension SQLStore {
    package func page(_ claim: ShardClaim, limit: Int, needs: RecipientProfileFields) async throws -> RecipientPage {
        try await self.pageReader.read(claim, from: self.database) { part, driver, database in
            let consent = try ConsentColumns(claim.notification, in: database)
            let query = RecipientQuery(part, limit: limit, needs: needs, consent: consent, database.attributes)
            let found = try query.fetch(driver: driver, in: database)
            return try Self.page(found, of: part, limit: limit, query, in: database)
        }
    }

    /// Adds the recipients with removed devices to a page, and shortens the page if there are too many of them.
    private static func page(
        _ found: RecipientQuery.Found,
        of claim: ShardClaim,
        limit: Int,
        _ query: RecipientQuery,
        in database: any SQLConnection
    ) throws -> RecipientPage {
        // The id of a named token's recipient is its position with a negative sign.
        let ids = [found.recipients.last?.id, found.ended.last?.id, found.held.last].compactMap { $0.map(abs) }
        let isFull = found.recipients.count + found.ended.count + found.held.count >= limit
        var page = RecipientPage(
            recipients: found.recipients,
            ended: found.ended,
            cursor: isFull ? ids.max() ?? claim.end : claim.end,
            isLast: !isFull
        )
        page.readAt = try RegistrationChanges.clock(in: database)
        let left = try query.left(upTo: page.cursor, in: database)
        if left.count >= limit, let last = left.last, last < page.cursor {
            // The page has no room for all removed devices. The rest follows in the next page.
            page.recipients.removeAll { $0.id > last }
            page.ended.removeAll { $0.id > last }
            (page.cursor, page.isLast) = (last, false)
        }
        page.held = left + found.held.filter { $0 <= page.cursor }
        return page
    }
}
