import Foundation
import GRDB
import ProviderModel
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushStore

/// The length of the log beside readers that would keep their snapshots for ever.
@Suite(.timeLimit(.patience)) struct WriteAheadLogTests {
    private static let long: Duration = .seconds(3600)
    private static let limits = LogStateMachine.Limits(checkpoint: 60, renewal: 100, hold: 120, patience: Self.long)
    /// The length at which writers wait, and one transaction more.
    private static let bound = 160 * 4120

    private static func endless(_ database: any SQLConnection) throws -> Int {
        try database.value(
            sql: "WITH RECURSIVE step(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM step) SELECT count(*) FROM step"
        ) as Int? ?? 0
    }

    private func withStore(
        limits logLimits: LogStateMachine.Limits = Self.limits,
        renewals: Int = .max,
        _ body: (SQLStore, Int64, String) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            var limits = QueryLimits.patient
            (limits.attempt, limits.renewals) = (.milliseconds(1), renewals)
            var waiting: [BudgetedResource: BudgetLimits] = [:]
            for resource in [BudgetedResource.queries, .exports, .counts] {
                waiting[resource] = resource.row.limits
                waiting[resource]?.patience = Self.long
            }
            let path = "\(directory)/provider.sqlite"
            let key = try MasterKey.fixture(1)
            let store = try SQLStore(
                path: path,
                masterKey: key,
                limits: limits,
                budgets: BudgetRegistry(waiting),
                logLimits: logLimits
            )
            let bundleID = try #require(Topic(Vectors.bundleID))
            let app = try await store.addApp(bundleID: bundleID, name: nil, now: Vectors.issuedAt).app.id
            try await body(store, app, path)
            try await store.close()
        }
    }

    /// Registers devices, several pages of the log each, and returns the greatest length of the log.
    private func register(_ numbers: Range<Int>, in store: SQLStore, app: Int64) async throws -> Int {
        var greatest = 0
        for number in numbers {
            try await store.register(number, app: app)
            greatest = max(greatest, store.logBytes)
        }
        return greatest
    }

    @Test(arguments: [QueryCaller.Purpose.request, .export, .acceptance])
    func queriesThatNeverEndRenewTheirSnapshots(purpose: QueryCaller.Purpose) async throws {
        try await self.withStore { store, app, _ in
            let queries = (0..<4).map { _ in
                let account = BudgetCaller(.principal(UUID()))
                return QueryCaller.$current.withValue(
                    QueryCaller(budget: Self.long, purpose: purpose, account: account)
                ) {
                    Task { try await store.database.query { try Self.endless($0) } }
                }
            }
            let greatest = try await self.register(0..<400, in: store, app: app)
            #expect(greatest < Self.bound)
            #expect(store.logFolds.complete > 0)
            #expect(store.logFolds.prevented == 0)
            for query in queries { query.cancel() }
            for query in queries { await #expect(throws: CancellationError.self) { try await query.value } }
        }
    }

    /// The provider's own services have no budget, and keep their snapshot once it was renewed too often.
    @Test func aReadOfAServiceRenewsItsSnapshotToo() async throws {
        try await self.withStore { store, app, _ in
            let read = Task { try await store.database.read { try Self.endless($0) } }
            var greatest = 0
            var number = 0
            while store.logFolds.complete < 2 {
                greatest = max(greatest, try await self.register(number..<(number + 10), in: store, app: app))
                number += 10
            }
            #expect(greatest < Self.bound)
            read.cancel()
            _ = await read.result
        }
    }

    @Test func aQueryThatWasRenewedSeesWhatWasWrittenMeanwhile() async throws {
        try await self.withStore { store, app, _ in
            let caller = QueryCaller(budget: Self.long, purpose: .acceptance)
            let begun = OneShotValue<Void>()
            // Each step has a snapshot of its own: the count ends once another task's devices are visible.
            let query = QueryCaller.$current.withValue(caller) {
                Task {
                    try await store.database.query(from: 0) { database, steps -> QueryStep<Int, Int> in
                        let count = try database.value(sql: "SELECT count(*) FROM device") as Int? ?? 0
                        begun.resolve(.success(()))
                        return count >= 300 ? .done(steps) : .next(steps + 1)
                    }
                }
            }
            try await begun.value
            let greatest = try await self.register(0..<300, in: store, app: app)
            #expect(greatest < Self.bound)
            let steps = try await query.value
            #expect(steps > 0)
        }
    }

    /// A reason that is true, instead of advice on its conditions.
    @Test func aQueryThatHadToBeginAnewTooOftenIsTriedLater() async throws {
        try await self.withStore(renewals: 2) { store, app, _ in
            let end = Shared(false)
            let caller = QueryCaller(budget: Self.long, account: BudgetCaller(.principal(UUID())))
            let query = QueryCaller.$current.withValue(caller) {
                Task {
                    defer { end.withLock { $0 = true } }
                    return try await store.database.query { try Self.endless($0) }
                }
            }
            var number = 0
            while !end.withLock({ $0 }) {
                try await store.register(number, app: app)
                _ = await store.foldLog()
                number += 1
            }
            await #expect(throws: StoreError.queryInterrupted) { try await query.value }
            #expect(store.queryCounts == (0, 0))
        }
    }

    /// A campaign to an audience that no index finds, of which few devices are: a page would be one read of them all.
    @Test func aPageOfACostlyAudienceLetsTheLogBeFolded() async throws {
        var limits = Self.limits
        // A read that did not renew its snapshot would prevent a fold.
        limits.longPatience = .zero
        try await self.withStore(limits: limits) { store, app, _ in
            let registrations = (0..<400).map { number in
                var registration = DeviceRegistration(environment: .sandbox, token: .numbered(number))
                registration.tags = number.isMultiple(of: 50) ? ["rare"] : ["common"]
                return registration
            }
            _ = try await store.register(registrations, app: app, now: Vectors.issuedAt)
            let conditions = (0..<20).map { AudienceExpression.not(.attribute(name: "a\($0)", .equal, .integer(1))) }
            let audience = AudienceExpression.and(conditions + [.not(.tag("common"))])
            _ = try await store.start(app: app, to: .devices(audience))
            let claim = try await store.claimed()
            let end = Shared(false)
            let read = Task {
                defer { end.withLock { $0 = true } }
                return try await store.readAll(claim, page: 10)
            }
            var number = 10_000
            while !end.withLock({ $0 }) {
                try await store.register(number, app: app)
                #expect(await store.foldLog())
                number += 1
            }
            let devices = try await store.devices(app: app, audience: .tag("rare"), after: 0, limit: 100)
            #expect(try await read.value.map(\.id) == devices.map(\.id))
            #expect(store.logFolds.prevented == 0)
        }
    }

    /// Keeps a snapshot, as a read does that could not renew its own, until the gate is opened.
    private func keepSnapshot(of store: SQLStore, until gate: Gate) async throws -> Task<Void, any Error> {
        let hasBegun = OneShotValue<Void>()
        let task = Task {
            try await store.sqliteFile.log.whileLasting {
                let snapshot = try store.sqliteFile.pool.makeSnapshot()
                hasBegun.resolve(.success(()))
                await gate.pass()
                try snapshot.close()
            }
        }
        try await hasBegun.value
        return task
    }

    @Test func aReadThatLastsKeepsNobodyFromReadingAndWriting() async throws {
        var limits = Self.limits
        (limits.hold, limits.longPatience) = (1_000_000, Self.long)
        try await self.withStore(limits: limits) { store, app, _ in
            // Nothing that the set-up has written is folded later.
            #expect(await store.foldLog())
            let folds = store.logFolds.complete
            let gate = Gate()
            let lasting = try await self.keepSnapshot(of: store, until: gate)
            _ = try await self.register(0..<200, in: store, app: app)
            #expect(store.logBytes > limits.renewal * 4096)
            #expect(try !store.sqliteFile.log.isFolding, "no other read begins anew")
            #expect(store.logFolds == (folds, 0))
            gate.open()
            try await lasting.value
            var number = 200
            while store.logFolds.complete == folds {
                try await store.register(number, app: app)
                number += 1
            }
        }
    }

    @Test func theLogKeepsItsLengthBesideAReadThatLasts() async throws {
        var limits = Self.limits
        limits.longPatience = Self.long
        try await self.withStore(limits: limits) { store, app, _ in
            let gate = Gate()
            let lasting = try await self.keepSnapshot(of: store, until: gate)
            let writes = Task { try await self.register(0..<200, in: store, app: app) }
            try await eventually { try !store.sqliteFile.log.admitsWriter }
            #expect(store.logBytes < Self.bound)
            gate.open()
            try await lasting.value
            #expect(try await writes.value < Self.bound)
            #expect(store.logFolds.complete > 0)
        }
    }

    /// It could be a backup, for which writers must not wait until it ends.
    @Test func aSnapshotOfAnotherProcessKeepsNobodyFromWriting() async throws {
        var limits = Self.limits
        limits.patience = .milliseconds(1)
        try await self.withStore(limits: limits) { store, app, path in
            var configuration = Configuration()
            configuration.readonly = true
            let other = try DatabasePool(path: path, configuration: configuration)
            let snapshot = try other.makeSnapshot()
            _ = try await self.register(0..<200, in: store, app: app)
            #expect(store.logFolds.prevented > 0)
            #expect(try await snapshot.read { try $0.value(sql: "SELECT count(*) FROM device") as Int? } == 0)
            try snapshot.close()
            #expect(await store.foldLog())
            let greatest = try await self.register(200..<400, in: store, app: app)
            #expect(greatest < Self.bound)
            try other.close()
        }
    }

    @Test func aCountInStepsFindsWhatOneQueryFinds() async throws {
        try await self.withStore { store, app, _ in
            for number in 0..<90 {
                try await store.register(number, app: app) { registration in
                    registration.locale = .set(number.isMultiple(of: 3) ? "de" : "en")
                    registration.tags = number.isMultiple(of: 30) ? ["rare"] : ["common"]
                }
            }
            for (audience, expected) in [
                (AudienceExpression.everyone, 90), (.locale("de"), 30), (.not(.locale("de")), 60), (.tag("rare"), 3),
                (.and([.not(.tag("rare")), .locale("de")]), 27),
            ] {
                for size in [1, 7, 90, 2000] {
                    let counting = DeviceCount(audience, environment: nil, kind: nil, app: app)
                    let progress = DeviceCount.Progress(size: size)
                    #expect(try await store.database.query(from: progress, counting.step) == expected)
                }
            }
        }
    }
}
