import Foundation
import ProviderModel
import PushStore
import PushTesting
import PushTypes
import Testing

/// The counters of charts.
@Suite(.timeLimit(.patience)) struct StatisticsContract: StoreContract {
    /// Commits one page at a time, with a result for each recipient.
    private func send(
        _ store: any ProviderStore,
        _ app: Int64,
        at now: Timestamp,
        _ states: [(DeliveryRecord.State, String?)]
    ) async throws {
        let tokens = (1...states.count).map { DeviceToken.numbered($0) }
        _ = try await store.start(app: app, to: .tokens(tokens))
        let claim = try await store.claimed()
        let recipients = try await store.readAll(claim, page: 100)
        try await store.commit(claim, now: now) { page in
            page.deliveries = zip(recipients, states).map { recipient, result in
                var delivery = DeliveryResult.fixture(recipient, result.0, reason: result.1)
                delivery.trip = PushTrip(connection: 0, milliseconds: 30)
                return delivery
            }
            page.step = .last(claim)
        }
    }

    @Test(arguments: StoreBackend.available)
    func whatPagesWriteIsCountedOnceAndByTheMinute(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let minute = StatisticStep.minute.start(of: self.now)
            let later = minute.advanced(by: .seconds(75))
            try await self.send(
                store,
                app,
                at: minute,
                [(.accepted, nil), (.rejected, "Unregistered"), (.failed, "late")]
            )
            try await self.send(store, app, at: later, [(.accepted, nil), (.rejected, "Unregistered")])
            let to = minute.advanced(by: .seconds(600))
            let points = try await store.statistics(apps: [app], from: minute, to: to, step: .minute)
            #expect(points.map(\.at) == [minute, minute.advanced(by: .seconds(60))])
            #expect(
                points.map(\.accepted) == [1, 1] && points.map(\.rejected) == [1, 1] && points.map(\.failed) == [1, 0]
            )
            #expect(points.first?.latency.buckets == [0, 0, 3, 0, 0, 0, 0, 0, 0, 0])
            let hours = try await store.statistics(apps: [app, app + 1], from: .atOnce, to: to, step: .hour)
            #expect(hours.map(\.accepted) == [2])
            #expect(try await store.statistics(apps: [app + 1], from: .atOnce, to: to, step: .hour) == [])
            let reasons = try await store.topReasons(apps: [app], from: .atOnce, to: to, limit: 1)
            #expect(reasons == [ReasonCount(state: .rejected, reason: "Unregistered", count: 2)])
        }
    }

    @Test(arguments: StoreBackend.available)
    func numbersAreWrittenOnceAndNotForAnAppThatIsGone(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let minute = StatisticStep.minute.start(of: self.now)
            let to = minute.advanced(by: .seconds(60))
            try await self.send(store, app, at: minute, [(.accepted, nil)])
            try await store.writeStatistics()
            try await store.writeStatistics()
            try await self.send(store, app, at: minute, [(.accepted, nil)])
            let points = try await store.statistics(apps: [app], from: minute, to: to, step: .minute)
            #expect(points.map(\.accepted) == [2])
            try await self.send(store, app, at: minute, [(.accepted, nil)])
            _ = try await store.eraseApp(app, now: self.now, steady: self.now)
            try await store.writeStatistics()
        }
    }

    /// While another reader or the service writes the numbers, too.
    @Test(arguments: StoreBackend.available)
    func aReaderSeesAllThatWasCommittedBefore(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let minute = StatisticStep.minute.start(of: self.now)
            let to = minute.advanced(by: .seconds(60))
            for round in 1...20 {
                try await self.send(store, app, at: minute, [(.accepted, nil)])
                let seen = try await withThrowingTaskGroup(of: [Int].self) { group in
                    for _ in 0..<4 {
                        group.addTask {
                            try await store.statistics(apps: [app], from: minute, to: to, step: .minute).map(\.accepted)
                        }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                #expect(seen == Array(repeating: [round], count: 4))
            }
        }
    }

    @Test(arguments: StoreBackend.available)
    func oldCountersMoveToLongerIntervalsAndKeepTheirSums(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            for hours in [0, 1, 26] as [Int64] {
                let at = self.now.advanced(by: .seconds(hours * 3600))
                try await self.send(store, app, at: at, [(.accepted, nil), (.failed, "late")])
            }
            func sums(_ step: StatisticStep) async throws -> [Int] {
                let to = self.now.advanced(by: .seconds(10 * 86_400))
                return try await store.statistics(apps: [app], from: .atOnce, to: to, step: step).map(\.accepted)
            }
            #expect(try await store.rollUpStatistics(now: self.now) == 0)
            #expect(try await sums(.minute) == [1, 1, 1])
            for days in [4, 100] as [Int64] {
                let now = self.now.advanced(by: .seconds(days * 86_400))
                while try await store.rollUpStatistics(now: now) > 0 {}
                #expect(try await sums(.day).reduce(0, +) == 3)
                let reasons = try await store.topReasons(apps: [app], from: .atOnce, to: now, limit: 5)
                #expect(reasons.map(\.count) == [3])
                #expect(try await sums(.minute).count == (days == 4 ? 3 : 2))
            }
            let ages = self.now.advanced(by: .seconds(2000 * 86_400))
            while try await store.rollUpStatistics(now: ages) > 0 {}
            #expect(try await sums(.day) == [])
        }
    }
}
