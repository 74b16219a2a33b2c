import Foundation
import GRDB
import ProviderModel
import PushTesting
import PushTypes
import Testing

@testable import PushStore

/// Full disks and damaged files.
@Suite(.timeLimit(.patience)) struct DiskTests {
    let now = Vectors.issuedAt

    @Test func aFullDiskIsNamedAndForgottenOnceThereIsRoom() async throws {
        try await self.withStore { store, app, _ in
            try await store.register(1, app: app)
            let notification = try await store.start(app: app)
            let claim = try await store.claimed()
            try await Self.limit(store, pages: 1)
            await self.expectCannotWrite("register") {
                let batch = (2...5000).map { DeviceRegistration(environment: .sandbox, token: .numbered($0)) }
                _ = try await store.register(batch, app: app, now: self.now)
            }
            await self.expectCannotWrite("accept") {
                var large = try NotificationRecord.fixture(app: app, to: .devices(.everyone))
                large.content.payload = Data(repeating: 0x20, count: 100_000)
                _ = try await store.accept(large, shards: [ShardPlan(notBefore: self.now)], idempotency: nil)
            }
            await self.expectCannotWrite("commit") {
                try await store.commit(claim) { page in
                    page.events = Data(repeating: 0x20, count: 100_000)
                    page.deliveries = (1...5).map {
                        DeliveryResult(recipient: $0, device: $0, state: .accepted, attempts: 1, at: self.now)
                    }
                }
            }
            #expect(try await store.count(app: app, audience: .everyone, environment: nil) == 1, "nothing half")
            #expect(try await store.current(notification).progress.accepted == 0)

            try await Self.limit(store, pages: 1_000_000)
            try await store.register(2, app: app)
            #expect(try await store.count(app: app, audience: .everyone, environment: nil) == 2)
            let recipients = try await store.readAll(claim, page: 10)
            try await store.commit(claim) { page in
                page.deliveries = recipients.map { .fixture($0, reason: "a reason that is new") }
                page.step = .last(claim)
            }
            #expect(try await store.current(notification).state == .done)
            #expect(try await store.checkIntegrity() == [])
        }
    }

    /// A reason that a failed transaction added does not exist.
    @Test func whatAFailedTransactionAddedIsNotTakenForGranted() async throws {
        try await self.withStore { store, app, _ in
            let notification = try await store.start(app: app, to: .tokens((1...3).map { .numbered($0) }))
            let claim = try await store.claimed()
            let recipients = try await store.readAll(claim, page: 10)
            let deliveries = recipients.map { DeliveryResult.fixture($0, .rejected, reason: "Unregistered") }
            try await Self.limit(store, pages: 1)
            await self.expectCannotWrite("commit") {
                try await store.commit(claim) { page in
                    page.deliveries = deliveries
                    page.events = Data(repeating: 0x20, count: 100_000)
                }
            }
            try await Self.limit(store, pages: 1_000_000)
            let other = try await store.start(app: app, to: .tokens([.numbered(9)]))
            let next = try await store.claim(lane: .bulk, now: self.now, until: self.now, limit: 5)
            let otherClaim = try #require(next.first { $0.notification.id == other.id })
            try await store.commit(otherClaim) { page in
                page.deliveries = [DeliveryResult.fixture(recipients[0], .rejected, reason: "BadDeviceToken")]
                page.step = .last(otherClaim)
            }
            try await store.commit(claim) { page in
                page.deliveries = deliveries
                page.step = .last(claim)
            }
            let found = try await store.deliveries(of: notification.id, state: nil, after: nil, limit: 10)
            #expect(found.map(\.reason) == ["Unregistered", "Unregistered", "Unregistered"])
        }
    }

    /// Requests and pages that share a transaction.
    @Test func aFullDiskFailsAllOfATransaction() async throws {
        try await self.withStore { store, app, _ in
            func request(_ number: Int, bytes: Int = 10) throws -> AcceptanceRequest {
                var new = try NotificationRecord.fixture(app: app, to: .tokens([.numbered(number)]))
                (new.lane, new.content.payload) = (.urgent, Data(repeating: 0x20, count: bytes))
                return AcceptanceRequest(new, shards: [ShardPlan(notBefore: .atOnce)], isClaimed: true)
            }
            func write(_ requests: [AcceptanceRequest], _ pages: [PageResult] = []) async throws -> LedgerBatchResult {
                let writes = LedgerBatch(requests: requests, pages: pages)
                return try await store.write(writes, now: self.now, leaseUntil: self.now)
            }
            let earlier = try request(1)
            let claimed = try #require(try await write([earlier]).requests.first?.get().claimed)
            var page = PageResult(claimed.claim)
            page.deliveries = claimed.page.recipients.map { .fixture($0) }
            page.step = .last(claimed.claim)
            try await Self.limit(store, pages: 1)
            let (small, large) = (try request(2), try request(3, bytes: 100_000))
            await self.expectCannotWrite("all") { _ = try await write([small, large], [page]) }
            for new in [small, large] { #expect(try await store.notification(new.notification.id) == nil) }
            #expect(try await store.current(earlier.notification).progress.accepted == 0)
            try await Self.limit(store, pages: 1_000_000)
            let results = try await write([small, large], [page])
            let claims = try results.requests.compactMap { try $0.get().claimed }
            #expect(claims.count == 2)
            #expect(results.pages == [.inProgress])
            #expect(try await store.current(earlier.notification).state == .done)
            #expect(try await store.checkIntegrity() == [])
        }
    }

    /// The earlier notification of a repeated request cannot be read, and the others can.
    @Test func aRepetitionOfADamagedRowFailsNoOther() async throws {
        try await self.withStore { store, app, _ in
            let key = Idempotency(key: "a", fingerprint: [1])
            func request(_ key: Idempotency?) throws -> AcceptanceRequest {
                let new = try NotificationRecord.fixture(app: app, to: .tokens([.numbered(1)]))
                return AcceptanceRequest(new, shards: [ShardPlan(notBefore: .atOnce)], idempotency: key)
            }
            func write(_ requests: [AcceptanceRequest]) async throws -> LedgerBatchResult {
                try await store.write(LedgerBatch(requests: requests), now: self.now, leaseUntil: self.now)
            }
            _ = try await write([try request(key)])
            try await store.database.run(sql: "UPDATE notification SET topic = ''")
            let results = try await write([try request(nil), try request(key), try request(nil)]).requests
            #expect(try results[0].get().acceptance == .accepted)
            #expect(throws: DamagedRow.self) { try results[1].get() }
            #expect(try results[2].get().acceptance == .accepted)
        }
    }

    /// A page whose notification cannot be read ends the transaction: nothing of it is written.
    @Test func aPageThatCannotBeWrittenLeavesNothingOfItsTransaction() async throws {
        try await self.withStore { store, app, _ in
            _ = try await store.start(app: app, to: .tokens([.numbered(1)]))
            let claim = try await store.claimed()
            try await store.database.run(sql: "UPDATE notification SET state = 'dreaming'")
            var page = PageResult(claim)
            page.step = .last(claim)
            let new = try NotificationRecord.fixture(app: app, to: .tokens([.numbered(2)]))
            let request = AcceptanceRequest(new, shards: [ShardPlan(notBefore: .atOnce)])
            let writes = LedgerBatch(requests: [request], pages: [page])
            await #expect(throws: DamagedRow.self) {
                _ = try await store.write(writes, now: self.now, leaseUntil: self.now)
            }
            #expect(try await store.notification(new.id) == nil)
        }
    }

    @Test func aDatabaseThatCannotBeWrittenIsNamed() async throws {
        try await self.withStore { store, app, _ in
            try await store.database.write { try $0.execute(sql: "PRAGMA query_only = 1") }
            await self.expectCannotWrite("register", why: "the file or its disk is read-only") {
                try await store.register(1, app: app)
            }
        }
    }

    @Test func aDamagedFileIsReported() async throws {
        try await self.withStore { store, app, path in
            for number in 1...500 { try await store.register(number, app: app) }
            #expect(try await store.checkIntegrity(isAtRest: true) == [])
            try await store.close()
            let file = try FileHandle(forUpdating: URL(filePath: path))
            let size = try file.seekToEnd()
            for offset in stride(from: size / 3, to: size, by: 4096) {
                try file.seek(toOffset: offset)
                try file.write(contentsOf: Data(repeating: 0xa5, count: 2048))
            }
            try file.close()
            do {
                let damaged = try SQLStore(path: path, masterKey: try .fixture(1))
                let faults = try await damaged.checkIntegrity()
                #expect(!faults.isEmpty)
            } catch {
                // The damage may show before it is looked for.
                #expect("\(error)".isEmpty == false)
            }
        }
    }

    @Test(arguments: [
        "UPDATE notification SET accepted = 5", "UPDATE notification SET state = 'done'",
        "DELETE FROM shard", "DELETE FROM notification",
        "INSERT INTO retry (notification, recipient, lane, attempts, dueAt) VALUES (1, 1, 1, 1, 1)",
        "UPDATE deviceTag SET device = 77", "INSERT INTO fileUsage VALUES (1, 0, 5)",
        "UPDATE device SET token = x'01' WHERE app = 9; DELETE FROM deviceTag; DELETE FROM device; DELETE FROM app",
    ])
    func aBrokenRuleIsReported(sql: String) async throws {
        try await self.withStore { store, app, _ in
            try await store.register(1, app: app) { $0.tags = ["a"] }
            try await store.register(2, app: app)
            _ = try await store.start(app: app)
            let claim = try await store.claimed()
            let step = ShardStep(claim, cursor: 1, isLast: false, leaseUntil: nil)
            try await store.commit(claim) { page in
                page.deliveries = [DeliveryResult(recipient: 1, device: 1, state: .accepted, attempts: 1, at: self.now)]
                page.step = step
            }
            #expect(try await store.checkIntegrity(isAtRest: true) == [])
            // Without foreign keys, as a defect would leave it.
            try await store.sqliteFile.writeUnchecked(sql)
            let faults = try await store.checkIntegrity()
            #expect(!faults.isEmpty)
        }
    }

    @Test func whoRestsHasGivenEverythingBack() async throws {
        try await self.withStore { store, app, _ in
            try await store.register(1, app: app)
            _ = try await store.start(app: app)
            let claim = try await store.claimed()
            let step = ShardStep(claim, cursor: 0, isLast: false, leaseUntil: self.now)
            try await store.commit(claim) { page in
                page.deliveries = [DeliveryResult(recipient: 1, device: 1, state: .sending, attempts: 1, at: self.now)]
                page.step = step
            }
            #expect(try await store.checkIntegrity() == [])
            #expect(try await store.checkIntegrity(isAtRest: true).count == 2)
            _ = try await store.recover(now: self.now)
            #expect(try await store.checkIntegrity(isAtRest: true) == [])
        }
    }

    @Test(arguments: [
        ("notification", "state = 'dreaming'"), ("notification", "guarantee = ''"), ("notification", "lane = 9"),
        ("notification", "audience = '{'"), ("notification", "audience = '{}'"), ("notification", "topic = ''"),
        ("notification", "pushType = 'smoke'"), ("notification", "priority = 300"),
    ])
    func aRowThatMakesNoSenseIsAnErrorAndNoCrash(table: String, change: String) async throws {
        try await self.withStore { store, app, _ in
            try await store.register(1, app: app)
            let notification = try await store.start(app: app)
            try await store.database.run(sql: "UPDATE \(table) SET \(change)")
            await #expect(throws: DamagedRow.self) {
                _ = try await store.notification(notification.id)
                _ = try await store.notifications(app: app, state: nil, before: nil, limit: 10)
                throw NothingToClaim()
            }
        }
    }

    /// It would block everything after it.
    @Test(
        arguments: [
            ("notification", "pushType = 'smoke'"), ("notification", "audience = '{'"), ("shard", "zoneKind = 7"),
            ("shard", "zoneKind = 1"),
        ],
        [NotificationRecord.Lane.bulk, .urgent]
    )
    func aNotificationThatCannotBeReadBlocksNoOther(
        _ damage: (table: String, change: String),
        lane: NotificationRecord.Lane
    )
        async throws
    {
        try await self.withStore { store, app, _ in
            try await store.register(1, app: app)
            func start() async throws -> NotificationRecord { try await store.start(app: app) { $0.lane = lane } }
            let damaged = try await start()
            _ = try await start()
            let number = "(SELECT number FROM notification WHERE id = '\(damaged.id.uuidString)')"
            let column = damage.table == "shard" ? "notification" : "number"
            try await store.database.run(sql: "UPDATE \(damage.table) SET \(damage.change) WHERE \(column) = \(number)")
            let claims = try await store.claim(lane: lane, now: self.now, until: self.now, limit: 9)
            #expect(claims.count == 1)
            let paused = try await store.database.read {
                try $0.values(sql: "SELECT id FROM notification WHERE state = 'paused' AND pauseReason != ''")
                    as [String]
            }
            #expect(paused == [damaged.id.uuidString])
            if damage.table == "notification" { #expect(try await store.checkIntegrity().count == 1) }
        }
    }

    @Test func whatCannotBeReadIsNotOpenedAndNotTriedAgain() async throws {
        try await self.withStore { store, app, _ in
            try await store.register(1, app: app)
            let waiting = try await store.start(app: app, shards: []) { $0.state = .scheduled }
            let sound = try await store.start(app: app, shards: []) { $0.state = .scheduled }
            let failing = try await store.start(app: app)
            let claim = try await store.claimed()
            try await store.commit(claim) { page in
                page.retries = [RetryResult(recipient: 1, attempts: 1, dueAt: self.now)]
                page.step = .last(claim)
            }
            for notification in [waiting, failing] {
                try await store.database.run(
                    sql: "UPDATE notification SET topic = '' WHERE id = ?",
                    [notification.id.uuidString]
                )
            }
            #expect(try await store.due(now: self.now, limit: 9).map(\.id) == [sound.id])
            #expect(
                try await store.dueRetries(lane: .bulk, now: self.now, until: self.now, limit: 9, from: ClaimFilter())
                    .isEmpty
            )
            #expect(try await store.nextDue(lane: .bulk) == nil)
        }
    }

    @Test(arguments: [("device", "token = x''"), ("device", "environment = 5"), ("target", "token = x''")])
    func whoCannotBeReadIsNotInThePageAndCounts(table: String, change: String) async throws {
        try await self.withStore { store, app, _ in
            for number in 1...3 { try await store.register(number, app: app) }
            let isNamed = table == "target"
            let tokens = Audience.tokens((1...3).map { .numbered($0) })
            _ = try await store.start(app: app, to: isNamed ? tokens : .devices(.everyone))
            try await store.database.run(sql: "UPDATE \(table) SET \(change) WHERE \(isNamed ? "position" : "id") = 2")
            let claim = try await store.claimed()
            let page = try await store.page(claim, limit: 2, needs: [])
            #expect(page.recipients.count == 1)
            #expect(page.ended.map(\.id) == [isNamed ? -2 : 2])
            #expect(page.cursor == 2)
            #expect(!page.isLast)
        }
    }

    /// A push service that invents reasons does not fill the disk.
    @Test func moreReasonsThanAreKeptBecomeOne() async throws {
        try await self.withStore { store, app, _ in
            for number in 1...3 { try await store.register(number, app: app) }
            let notification = try await store.start(app: app)
            let claim = try await store.claimed()
            try await store.database.run(sql: "INSERT INTO reason (id, text) VALUES (1, 'known'), (10000, 'last')")
            try await store.commit(claim) { page in
                page.deliveries = zip(1..., ["known", "new", "newer"]).map { id, reason in
                    DeliveryResult(
                        recipient: id,
                        device: id,
                        state: .rejected,
                        reason: reason,
                        attempts: 1,
                        at: self.now
                    )
                }
                page.step = .last(claim)
            }
            let reasons = try await store.deliveries(of: notification.id, state: nil, after: nil, limit: 9).map(
                \.reason
            )
            #expect(reasons.first == "known")
            #expect(reasons[1]?.contains("10,000") == true)
            #expect(reasons[2] == reasons[1])
            let count = try await store.database.read { try $0.value(sql: "SELECT count(*) FROM reason") as Int? }
            #expect(count == 3)
        }
    }

    @Test func aDeviceThatCannotBeReadIsNotTriedAgain() async throws {
        try await self.withStore { store, app, _ in
            try await store.register(1, app: app)
            _ = try await store.start(app: app)
            let claim = try await store.claimed()
            try await store.commit(claim) { page in
                page.retries = [RetryResult(recipient: 1, attempts: 1, dueAt: self.now)]
                page.step = .last(claim)
            }
            try await store.database.run(sql: "UPDATE device SET token = x''")
            let due = try await store.dueRetries(
                lane: .bulk,
                now: self.now,
                until: self.now,
                limit: 9,
                from: ClaimFilter()
            )
            let ended = EndedRetry(id: 1, recipient: nil, attempts: 1, cause: .unreadable)
            #expect(due.map(\.recipients) == [[.ended(ended)]])
        }
    }

    /// SQLite's own words name no disk, or are those of another statement.
    @Test(
        arguments: [
            (.SQLITE_IOERR, "not an error", "full"), (.SQLITE_IOERR_WRITE, "disk I/O error", "full"),
            (.SQLITE_FULL, "database or disk is full", "the disk is full"), (.SQLITE_CANTOPEN, "not an error", "full"),
            (.SQLITE_READONLY, "attempt to write a readonly database", "read-only"),
            (.SQLITE_ERROR, "no such table", "no such"),
        ] as [(ResultCode, String, String)]
    )
    func anErrorOfTheDiskSaysSo(code: ResultCode, message: String, part: String) {
        #expect(DatabaseError(resultCode: code, message: message).reason.contains(part))
    }

    private func expectCannotWrite(
        _ comment: Comment,
        why expected: String = "the disk is full",
        sourceLocation: SourceLocation = #_sourceLocation,
        _ body: () async throws -> Void
    ) async {
        await #expect(comment, sourceLocation: sourceLocation) {
            try await body()
        } throws: { error in
            guard case StoreError.cannotWrite(let why) = error else { return false }
            return why == expected
        }
    }

    /// Limits the database to this number of pages, or to its present size.
    private static func limit(_ store: SQLStore, pages: Int) async throws {
        try await store.database.write { try $0.execute(sql: "PRAGMA max_page_count = \(pages)") }
    }

    private func withStore(_ body: (SQLStore, Int64, String) async throws -> Void) async throws {
        try await withTemporaryDirectory { directory in
            let path = "\(directory)/provider.sqlite"
            let store = try SQLStore(path: path, masterKey: try .fixture(1))
            let bundleID = try #require(Topic(Vectors.bundleID))
            let app = try await store.addApp(bundleID: bundleID, name: nil, now: self.now).app.id
            try await body(store, app, path)
        }
    }
}

extension SQLiteDatabase {
    /// Runs statements without foreign keys.
    fileprivate func writeUnchecked(_ sql: String) async throws {
        try await self.pool.writeWithoutTransaction { database in
            try database.execute(sql: "PRAGMA foreign_keys = 0")
            defer { try? database.execute(sql: "PRAGMA foreign_keys = 1") }
            try database.execute(sql: sql)
        }
    }
}
