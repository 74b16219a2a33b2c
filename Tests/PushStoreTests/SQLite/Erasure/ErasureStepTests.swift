import Foundation
import GRDB
import ProviderModel
import PushSupport
import PushTesting
import PushTypes
import Synchronization
import Testing

@testable import PushStore

/// The steps of an erasure, with what arrives between them.
@Suite(.timeLimit(.patience)) struct ErasureStepTests {
    private let now = Vectors.issuedAt

    private func run(_ body: (SQLStore, _ app: Int64) async throws -> Void) async throws {
        try await withTemporaryDirectory { directory in
            let store = try SQLStore(path: "\(directory)/provider.sqlite", masterKey: try .fixture(1))
            let bundleID = try #require(Topic(Vectors.bundleID))
            try await body(store, try await store.addApp(bundleID: bundleID, name: nil, now: self.now).app.id)
        }
    }

    /// Adds a device of Alice with a receipt for a notification in progress.
    private func addReceipt(_ store: SQLStore, _ app: Int64) async throws -> (device: Int64, NotificationRecord) {
        let device = try await store.register(1, app: app) { ($0.installation, $0.user) = ("phone", .set("alice")) }
        let notification = try await store.start(app: app) { $0.content.receipts = .device }
        let entry = ReceiptBatch.Entry(
            IncomingReceipt(id: UUID(), event: .shown, at: self.now),
            of: .notification(notification.id)
        )
        let bundleID = try #require(Topic(Vectors.bundleID))
        let batch = ReceiptBatch(from: .installation("phone", of: bundleID), privacy: .device, [entry])
        let results = try await store.addReceipts([batch], now: self.now) { _ in Data() }.results
        #expect(results == [[.accepted]])
        return (device, notification)
    }

    /// A receipt that arrives after the search goes with its device.
    @Test func aReceiptThatComesLateIsAnonymousToo() async throws {
        try await self.run { store, app in
            let (device, notification) = try await self.addReceipt(store, app)
            let erasure = try await store.eraseUser("alice", app: app, steady: self.now)
            try await store.database.write { database in
                let step = UserErasure(id: erasure.id, user: "alice", app: app, now: self.now, database: database)
                #expect(try step.receipts(of: [device]).map(\.device) == [device])
                #expect(try step.receipts(of: []).isEmpty)
                // Others than those that were searched stay.
                try step.eraseDevices([])
                #expect(try step.devices() == [device])
                try step.eraseDevices([device])
                #expect(try step.devices().isEmpty)
            }
            let receipts = try await store.receipts(of: notification.id, after: nil, limit: 9).receipts
            #expect(receipts.count == 1 && receipts.allSatisfy { $0.device == nil })
        }
    }

    /// A receipt of a notification that ended long ago, without a delivery, is found by the search.
    @Test func aReceiptWithoutADeliveryIsFound() async throws {
        try await self.run { store, app in
            let (_, notification) = try await self.addReceipt(store, app)
            _ = try await store.setState(.cancel, of: notification.id, now: self.now)
            let later = self.now.advanced(by: .seconds(86_400))
            let erasure = try await store.eraseUser("alice", app: app, steady: later)
            while try await store.continueErasure(erasure, now: later) {}
            let receipts = try await store.receipts(of: notification.id, after: nil, limit: 9).receipts
            #expect(receipts.count == 1 && receipts.allSatisfy { $0.device == nil })
        }
    }

    /// An erasure that a restart interrupts leaves what came after its request too.
    @Test func theRequestIsKnownAfterARestart() async throws {
        try await withTemporaryDirectory { directory in
            let (path, key) = ("\(directory)/provider.sqlite", try MasterKey.fixture(1))
            let store = try SQLStore(path: path, masterKey: key)
            let bundleID = try #require(Topic(Vectors.bundleID))
            let app = try await store.addApp(bundleID: bundleID, name: nil, now: self.now).app.id
            let other = try await store.register(1, app: app) { $0.user = .set("bob") }
            for number in 2...30 { try await store.register(number, app: app) { $0.user = .set("alice") } }
            let erasure = try await store.eraseUser("alice", app: app, steady: self.now)
            #expect(try await store.continueErasure(erasure, now: self.now), "some are left")
            try await store.register(1, app: app) { $0.user = .set("alice") }
            try await store.close()
            let next = try SQLStore(path: path, masterKey: key)
            #expect(try await next.erasures() == [erasure])
            while try await next.continueErasure(erasure, now: self.now) {}
            let left = try await next.devices(app: app, audience: .everyone, after: 0, limit: 99)
            #expect(left.map(\.id) == [other] && left.map(\.profile.user) == ["alice"])
            try await next.close()
        }
    }

    /// A page that was read before the request counts the user once more.
    @Test func aLateCountDoesNotKeepTheName() async throws {
        try await self.run { store, app in
            _ = try await store.register(1, app: app) { $0.user = .set("alice") }
            let notification = try await store.start(app: app)
            let number = try await store.claimed().notificationNumber
            let erasure = try await store.eraseUser("alice", app: app, steady: self.now)
            while try await store.continueErasure(erasure, now: self.now) {}
            let cap = FrequencyCap(count: 3, window: 3600)
            let use = FrequencyCapReservation(
                cap,
                app: app,
                notification: number,
                holders: ["user:alice"],
                now: self.now
            )
            _ = try await store.reserve([use])
            _ = try await store.changeBadges(by: 1, notification: number, app: app, holders: ["user:alice"])
            try await store.finishErasure(erasure)
            for table in ["capUse", "badge", "badgeStep"] {
                let count = try await store.database.read { try $0.count(sql: "SELECT count(*) FROM \(table)") }
                #expect(count == 0, "\(table) of \(notification.id)")
            }
        }
    }

    /// Returns the result of a run that was decided from a version of a schedule.
    private func run(_ schedule: UUID, version: Int64, in store: SQLStore, _ app: Int64) async throws -> Acceptance {
        var run = try NotificationRecord.fixture(app: app, to: .devices(.everyone))
        run.run = ScheduleRun(schedule: schedule, at: self.now)
        let shards = [ShardPlan(notBefore: self.now)]
        return try await store.accept(run, shards: shards, idempotency: nil, scheduleVersion: version)
    }

    /// A run that was decided before the request would bring the user back.
    @Test func aScheduleIsReadAgain() async throws {
        try await self.run { store, app in
            var schedule = try ScheduleRecord.fixture(app: app)
            schedule.request = try JSONValue.object(["to": ["users": ["alice", "bob"]], "alert": "alice"]).text
            var other = try ScheduleRecord.fixture(app: app)
            other.request = try JSONValue.object(["to": ["users": ["bob"]], "alert": "alice"]).text
            for one in [schedule, other] { try await store.addSchedule(one) }
            let erasure = try await store.eraseUser("alice", app: app, steady: self.now)
            #expect(try await self.run(schedule.id, version: schedule.version, in: store, app) == .scheduleChanged)
            while try await store.continueErasure(erasure, now: self.now) {}
            let after = try #require(try await store.schedule(schedule.id))
            #expect(try JSONValue(parsing: after.request) == ["to": ["users": ["bob"]], "alert": "alice"])
            #expect(after.version == schedule.version + 1, "once, as it is not the text that is erased")
            #expect(try await self.run(schedule.id, version: after.version, in: store, app) == .accepted)
            #expect(try await self.run(other.id, version: other.version, in: store, app) == .accepted)
        }
    }

    /// A form that was opened before the request would bring the user back, and so would a run of a schedule.
    @Test func aNamedAudienceHasANewVersion() async throws {
        try await self.run { store, app in
            func change(_ users: JSONValue, expected: Int64) async throws -> LibraryChangeResult {
                let name = LibraryItemName.name(BytewiseString("beta"))
                var change = LibraryChange(.save, app: app, kind: .audience, item: name, by: nil, at: self.now)
                change.body = ["users": users]
                change.expected = expected
                return try await store.changeLibrary(change, limits: LibraryLimits())
            }
            guard case .changed(let item, true) = try await change(["alice", "bob"], expected: 0) else {
                Issue.record("it is new")
                return
            }
            var schedule = try ScheduleRecord.fixture(app: app)
            schedule.uses = [LibraryUse(item: item.id)]
            try await store.addSchedule(schedule)
            let erasure = try await store.eraseUser("alice", app: app, steady: self.now)
            while try await store.continueErasure(erasure, now: self.now) {}
            #expect(try await change(["alice", "carol"], expected: 1) == .stale(version: 2))
            let versions = try await store.libraryVersions(of: item.id, before: .max, limit: 9, bytes: .max).entries
            #expect(versions.map(\.version) == [2, 1] && versions.allSatisfy { $0.body == ["users": ["bob"]] })
            #expect(try await self.run(schedule.id, version: schedule.version, in: store, app) == .scheduleChanged)
            #expect(try await self.run(schedule.id, version: schedule.version + 1, in: store, app) == .accepted)
        }
    }

    /// The database finds the few notifications that name the user or one of the user's tokens: no other is read.
    @Test func audiencesOfOthersAreNotRead() async throws {
        try await self.run { store, app in
            for number in 1...3 { _ = try await store.start(app: app, to: .devices(.token(.numbered(number)))) }
            _ = try await store.start(app: app, to: .devices(.user("alice")))
            _ = try await store.start(app: app, to: .devices(.tag("token")))
            let erasure = try await store.eraseUser("alice", app: app, steady: self.now)
            func count(_ numbers: ClosedRange<Int>) async throws -> Int {
                try await store.database.read { database in
                    let step = UserErasure(id: erasure.id, user: "alice", app: app, now: self.now, database: database)
                    let rows = try step.candidates(Set(numbers.map { DeviceToken.numbered($0) }))
                    var count = 0
                    while try rows.next() != nil { count += 1 }
                    return count
                }
            }
            #expect(try await count(1...1) == 2)
            #expect(try await count(1...50) == 4)
            #expect(try await count(10...59) == 1)
            #expect(try await count(10...60) == 4, "all with a token, as there are more than one search names")
        }
    }

    /// Returns the statements that the writer carries out from the beginning of `body` to its end.
    private func statements(of store: SQLStore, _ body: () async throws -> Void) async throws -> [String] {
        let statements = Mutex<[String]>([])
        try await store.database.write { database in
            try database.traceStatements { sql in statements.withLock { $0.append(sql) } }
        }
        try await body()
        return statements.withLock { $0 }
    }

    /// The writer, for which everybody waits, searches nothing: readers find what is to go.
    @Test func theWriterSearchesNoTexts() async throws {
        try await self.run { store, app in
            _ = try await store.register(1, app: app) { $0.user = .set("alice") }
            let requests: [JSONValue] = [["users": ["alice", "bob"]], ["token": .string(DeviceToken.numbered(1).hex)]]
            for to in requests {
                var schedule = try ScheduleRecord.fixture(app: app)
                schedule.request = try JSONValue.object(["to": to, "alert": "Tick"]).text
                try await store.addSchedule(schedule)
            }
            _ = try await store.start(app: app, to: .devices(.user("alice")))
            let all = try await self.statements(of: store) {
                let erasure = try await store.eraseUser("alice", app: app, steady: self.now)
                while try await store.continueErasure(erasure, now: self.now) {}
                try await store.finishErasure(erasure)
            }
            #expect(try await store.schedules(app: app).count == 1)
            #expect(all.contains { $0.contains("UPDATE schedule") }, "they are seen")
            #expect(all.filter { $0.contains("instr(") } == [])
        }
    }

    /// A user may have very many devices, before the request and after it: an index tells which are which.
    @Test func devicesAreFoundByTheirChange() async throws {
        try await self.run { store, app in
            _ = try await store.register(1, app: app) { ($0.installation, $0.user) = ("phone", .set("alice")) }
            let statements = try await self.statements(of: store) {
                let erasure = try await store.eraseUser("alice", app: app, steady: self.now)
                while try await store.continueErasure(erasure, now: self.now) {}
            }
            let all = Set(statements).filter { $0.contains("userSince") }
            #expect(all.count == 2, "whether the user has returned, and the devices of a step")
            let plans = try await store.database.read { database in
                try all.flatMap { try database.plan(of: $0) }
            }
            let searches = plans.filter { $0.contains("user=?") }
            #expect(searches.count == 2, "\(plans)")
            #expect(searches.allSatisfy { $0.contains("deviceByUserSince (app=? AND user=? AND <expr>") }, "\(plans)")
        }
    }

    /// Of one installation, a device without a user goes in the step of the one that has the user.
    @Test func aDeviceWithoutAUserGoesWithItsInstallation() async throws {
        try await self.run { store, app in
            for number in 1...25 {
                _ = try await store.register(number, app: app) {
                    ($0.installation, $0.user) = ("phone \(number)", .set("alice"))
                }
            }
            _ = try await store.register(26, app: app, environment: .production) { $0.installation = "phone 1" }
            #expect(try await store.devices(app: app, token: .numbered(26)).map(\.profile.user) == [nil])
            let erasure = try await store.eraseUser("alice", app: app, steady: self.now)
            while try await store.continueErasure(erasure, now: self.now) {}
            #expect(try await store.devices(app: app, audience: .everyone, after: 0, limit: 99).isEmpty)
        }
    }

    /// Posts go with their app, those of webhooks that were removed before too, and those of other apps stay.
    @Test func postsGoWithTheirAppOnly() async throws {
        try await self.run { store, app in
            try await store.database.write { database in
                for (webhook, owner) in [("a", app + 1), ("b", app), ("c", app), ("d", app + 1)] {
                    for last in 1...1500 {
                        let sql = "INSERT INTO webhookPost VALUES (?, ?, ?, ?, 0, 0)"
                        try database.run(sql: sql, [webhook, last, last, owner])
                    }
                }
            }
            let erasure = try #require(try await store.eraseApp(app, now: self.now, steady: self.now))
            var steps = 0
            while try await store.continueErasure(erasure, now: self.now), steps < 99 { steps += 1 }
            #expect(steps >= 4, "a thousand in a transaction")
            let left = try await store.database.read { database in
                try database.rows(sql: "SELECT webhook, count(*) AS posts FROM webhookPost GROUP BY webhook").map {
                    ($0["webhook"] as String? ?? "") + "\($0["posts"] as Int? ?? 0)"
                }
            }
            #expect(left == ["a1500", "d1500"])
        }
    }
}
