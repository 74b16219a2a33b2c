import ProviderModel
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushProvider
@testable import PushStore

/// Due campaigns of two apps, one of which has slow audiences.
@Suite(.timeLimit(.patience)) struct CountingTurnsTests {
    private func withStore(_ body: (SQLStore, _ slow: AppRecord, _ other: AppRecord) async throws -> Void)
        async throws
    {
        try await withTemporaryDirectory { directory in
            var limits = QueryLimits.patient
            // Each count waits for its turn, in which it makes one step.
            (limits.attempt, limits.turn) = (.zero, .zero)
            let store = try SQLStore(
                path: "\(directory)/provider.sqlite",
                masterKey: try .fixture(1),
                limits: limits,
                budgets: BudgetRegistry(BudgetLimits.patient)
            )
            func app(_ name: String) async throws -> AppRecord {
                let bundleID = try #require(Topic(name))
                let app = try await store.addApp(bundleID: bundleID, name: nil, now: Vectors.issuedAt).app
                for number in 0..<5 { try await store.register(number, app: app.id) }
                return app
            }
            try await body(store, try await app("com.example.slow"), try await app("com.example.other"))
            try await store.close()
        }
    }

    private func scheduled(_ store: SQLStore, _ app: AppRecord, _ time: ManualTime) async throws
        -> NotificationRecord
    {
        var record = try NotificationRecord.fixture(app: app.id, to: .devices(.not(.tag("none"))))
        (record.state, record.startsAt) = (.scheduled, time.now)
        _ = try await store.accept(record, shards: [], idempotency: nil, scheduleVersion: nil)
        return record
    }

    /// Of 70 slow sends of one app one is counted, 16 wait and the others are scheduled. The other app has every second turn.
    @Test func slowSendsOfAnAppKeepNoOtherFromOpening() async throws {
        try await self.withStore { store, slow, other in
            let (time, wakes) = (ManualTime(), LaneWakeSignals())
            let sends = (0..<70).map { _ in
                Task {
                    try await store.countingQuickly(app: slow.id, within: .patience) {
                        try await store.database.query(from: 0) { _, steps in QueryStep<Int, Int>.next(steps + 1) }
                    }
                }
            }
            defer { for send in sends { send.cancel() } }
            let theirs = try await self.scheduled(store, slow, time)
            let others = try await self.scheduled(store, other, time)
            let acceptor = NotificationAcceptor(store: store, wakes: wakes, time: time)
            var settings = ScheduleRunner.Settings()
            settings.sleep = .milliseconds(20)
            let runner = ScheduleRunner(
                store: store,
                acceptor: acceptor,
                wake: WakeSignal(),
                settings: settings,
                lines: Budget(.logLines),
                time: time,
                logger: silentLogger
            )
            try await withServices([runner]) {
                try await eventually { try await store.notification(others.id)?.state != .scheduled }
                let opened = try #require(try await store.notification(others.id))
                #expect(opened.state != .paused)
                #expect(opened.progress.recipients == 5)
                #expect(try await store.notification(theirs.id)?.state != .paused)
            }
            for send in sends { send.cancel() }
            for send in sends { _ = await send.result }
        }
    }
}
