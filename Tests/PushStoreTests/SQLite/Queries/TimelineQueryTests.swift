import Foundation
import GRDB
import ProviderModel
import PushTesting
import PushTypes
import Synchronization
import Testing

@testable import PushStore

/// The queries of timelines in long lists, and the retention of these.
@Suite(.timeLimit(.patience)) struct TimelineQueryTests {
    private let now = Vectors.issuedAt

    private func after(_ milliseconds: Int64) -> Timestamp { self.now.advanced(by: .milliseconds(milliseconds)) }

    private func run(_ body: (SQLStore, _ app: Int64) async throws -> Void) async throws {
        try await withTemporaryDirectory { directory in
            let store = try SQLStore(path: "\(directory)/provider.sqlite", masterKey: try .fixture(1))
            let bundleID = try #require(Topic(Vectors.bundleID))
            try await body(store, try await store.addApp(bundleID: bundleID, name: nil, now: self.now).app.id)
        }
    }

    /// The token's later events are many, and do not hide that of an older delivery.
    @Test func anOldDeliveryKeepsTheEventsOfItsToken() async throws {
        try await self.run { store, app in
            let device = try await store.register(1, app: app)
            let notification = try await store.start(app: app)
            let claim = try await store.claimed()
            let recipients = try await store.readAll(claim, page: 10)
            try await store.commit(claim) { page in
                page.step = .last(claim)
                page.deliveries = recipients.map { .fixture($0) }
            }
            try await store.database.write { database in
                let events = TokenEventWriter(app: app, now: self.now, in: database)
                for id in [notification.id] + (0..<150).map({ _ in UUID() }) {
                    try events.add(
                        .suspected,
                        device: device,
                        token: .numbered(1),
                        environment: .sandbox,
                        reason: "BadDeviceToken",
                        notification: id
                    )
                }
            }
            let history = try #require(try await store.history(of: notification.id, recipient: device))
            #expect(history.tokenEvents.map(\.notification) == [notification.id])
        }
    }

    /// The first and the last pages may have no events, as the webhook was added and removed meanwhile.
    @Test func theFirstAndTheLastEventsAreThoseOfPagesThatHaveSome() async throws {
        try await self.run { store, app in
            let notification = try await store.start(app: app)
            let number = try await store.claimed().notificationNumber
            #expect(try await store.history(of: notification.id)?.firstEvents == nil)
            try await store.database.write { database in
                let block = "INSERT INTO eventBlock (app, kind, at, events) VALUES (?, 'delivery', ?, x'') RETURNING id"
                let page = "INSERT INTO page VALUES (?, ?, ?, ?, 1, NULL, 0, 0, ?, ?)"
                var blocks: [Int64] = []
                for time in [20, 30] {
                    blocks.append(try #require(try database.integer(sql: block, [app, time])))
                }
                for index in 0..<50 {
                    let id: Int64? = index == 20 ? blocks[0] : index == 30 ? blocks[1] : nil
                    try database.run(sql: page, [number, index, index, index, index % 2, id])
                }
            }
            let history = try #require(try await store.history(of: notification.id))
            #expect(history.pages?.pages == 25 && history.retryPages?.pages == 25)
            #expect(history.firstEvents?.at == Timestamp(milliseconds: 20))
            #expect(history.lastEvents?.at == Timestamp(milliseconds: 30))
        }
    }

    /// One cleaning looks at connections once, and not with each notification that it forgets.
    @Test func connectionsAreForgottenOnTheirOwn() async throws {
        try await self.run { store, app in
            try await store.database.write { database in
                for index in 0..<1600 {
                    // One is of a clock that was ahead.
                    let at = index == 3 || index > 1500 ? self.after(9000) : self.after(-9000)
                    let sql = "INSERT INTO connection (service, openedAt) VALUES ('s:1', ?)"
                    try database.run(sql: sql, [at.milliseconds])
                }
            }
            let notification = try await store.start(app: app)
            _ = try await store.setState(.cancel, of: notification.id, now: self.now)
            let statements = Mutex<[String]>([])
            try await store.database.write { database in
                try database.traceStatements { sql in statements.withLock { $0.append(sql) } }
            }
            while try await store.forget(before: self.after(1), limit: 10) > 0 {}
            #expect(try await store.notification(notification.id) == nil)
            #expect(statements.withLock { $0.allSatisfy { !$0.contains("connection") } })
            var rounds: [Int] = []
            repeat {
                rounds.append(try await store.forgetConnections(before: self.now, limit: 250))
            } while rounds.last ?? 0 > 0 && rounds.count < 99
            #expect(rounds == [250, 250, 99, 0])
            let left = try await store.database.read { try $0.count(sql: "SELECT count(*) FROM connection") }
            #expect(left == 1001)
        }
    }
}
