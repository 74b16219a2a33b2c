import ProviderModel
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushProvider

/// Whose a delivery is, when the wall clock was set back.
@Suite(.timeLimit(.patience)) struct FormerUserClockTests {
    @Test(arguments: StoreBackend.available)
    func aDeliveryIsItsUsersAfterTheClockWasSetBack(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            func send(to user: String) async throws {
                try await fixture.register(1...1) { $0.user = .set(user) }
                fixture.time.advance(by: .seconds(1))
                let notification = try await fixture.accept([:])
                let history = try await fixture.store.history(of: notification.id, recipient: 1)
                #expect(history?.beginning.openedAt == fixture.time.recorded)
                try await fixture.settle()
                fixture.time.advance(by: .seconds(1))
            }
            try await send(to: "alice")
            fixture.time.step(by: .seconds(-3600))
            try await send(to: "bob")
            #expect(fixture.sender.sent.count == 2)
            for user in ["alice", "bob"] {
                var count = 0
                for period in try await fixture.store.periods(app: fixture.app, user: user, limit: 9) {
                    let deliveries = try await fixture.store.deliveries(
                        app: fixture.app,
                        period: period,
                        before: nil,
                        horizon: nil,
                        limit: 9
                    )
                    count += deliveries.count
                }
                #expect(count == 1, "\(user)")
            }
        }
    }
}
