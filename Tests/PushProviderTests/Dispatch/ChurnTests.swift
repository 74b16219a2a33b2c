import Foundation
import ProviderModel
import PushSender
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushProvider

/// Registrations that change while a notification is being sent: a recipient is the device that the promise was made to.
@Suite(.timeLimit(.patience)) struct ChurnTests {
    private func expectSound(_ fixture: DispatchFixture, _ notification: NotificationRecord) async throws {
        let end = try await fixture.progress(of: notification)
        #expect(end.state == .done)
        let progress = end.progress
        #expect(
            progress.recipients == progress.accepted + progress.rejected + progress.failed + progress.skipped
                + progress.unknown
        )
        #expect(try await fixture.deliveries(of: notification).count == progress.recipients)
        #expect(Set(fixture.sentTokens).count == fixture.sentTokens.count, "no token twice")
    }

    @Test(arguments: StoreBackend.available, [2, 6])
    func aDeviceThatLeavesAndComesBackIsSentToOnce(backend: StoreBackend, number: Int) async throws {
        try await DispatchFixture.run(backend, page: 2) { fixture in
            try await fixture.register(1...6)
            let notification = try await fixture.accept([:])
            fixture.whileSending {
                try await fixture.delete(number)
                try await fixture.register(number...number)
            }
            try await fixture.settle()
            try await self.expectSound(fixture, notification)
            #expect(Set(fixture.sentTokens) == Set((1...6).map { .numbered($0) }))
            #expect(try await fixture.progress(of: notification).progress.accepted == 6)
        }
    }

    @Test(arguments: StoreBackend.available)
    func aDeviceThatComesBackAfterItsPageIsSentTo(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend, page: 2) { fixture in
            try await fixture.register(1...6)
            let notification = try await fixture.accept([:])
            let dispatcher = fixture.dispatcher
            try await fixture.delete(3)
            #expect(try await fixture.device(3) == nil)
            for _ in 0..<2 { _ = try await dispatcher.step() }
            #expect(!fixture.sentTokens.contains(.numbered(3)))
            try await fixture.register(3...3) { $0.user = .set("bob") }
            #expect(try await fixture.device(3)?.profile.user == "bob")
            try await fixture.settle(dispatcher)
            try await self.expectSound(fixture, notification)
            #expect(try await fixture.progress(of: notification).progress.accepted == 6)
        }
    }

    /// It leaves again before it has been sent to, and is away when the queue of retries asks for it.
    @Test(arguments: StoreBackend.available, [false, true])
    func aDeviceThatLeavesTwiceIsSentToAfterItsReturn(backend: StoreBackend, wasTried: Bool) async throws {
        try await DispatchFixture.run(backend, page: 2) { fixture in
            try await fixture.register(1...8)
            if wasTried { fixture.sender.script(.numbered(1), .refused(503, .serviceUnavailable)) }
            let notification = try await fixture.accept([:])
            let dispatcher = fixture.dispatcher
            let leave = {
                try await fixture.delete(1)
            }
            if !wasTried { try await leave() }
            _ = try await dispatcher.step()
            if !wasTried { try await fixture.register(1...1) }
            try await leave()
            fixture.time.advance(by: .seconds(60))
            _ = try await dispatcher.step()
            #expect(try await fixture.progress(of: notification).state == .sending)
            try await fixture.register(1...1)
            try await fixture.settle(dispatcher)
            try await fixture.store.expect(notification, .done, accepted: 8, recipients: 8)
        }
    }

    /// All shards have ended, and recipients wait for another try.
    @Test(arguments: StoreBackend.available)
    func aDeviceThatIsBackBeforeTheOthersHaveEndedIsSentTo(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend, page: 2) { fixture in
            try await fixture.register(1...6)
            fixture.sender.script(.numbered(3), .refused(503, .serviceUnavailable))
            let notification = try await fixture.accept([:])
            for number in 4...5 {
                try await fixture.delete(number)
            }
            try await fixture.settle()
            #expect(try await fixture.progress(of: notification).state == .sending)
            try await fixture.register(5...5)
            try await fixture.settle(after: .seconds(60), times: 3)
            try await fixture.store.expect(notification, .done, accepted: 5, skipped: 1)
            #expect(fixture.sentTokens.count { $0 == .numbered(5) } == 1)
        }
    }

    @Test(arguments: StoreBackend.available)
    func aDeviceThatLeavesForGoodIsSkipped(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend, page: 2) { fixture in
            try await fixture.register(1...6) { $0.tags = ["beta"] }
            let notification = try await fixture.accept(["to": ["tag": "beta"]])
            fixture.whileSending {
                for number in [1, 5] {
                    try await fixture.delete(number)
                }
            }
            try await fixture.settle()
            try await self.expectSound(fixture, notification)
            let progress = try await fixture.progress(of: notification).progress
            #expect(progress.accepted == 5, "the page of the first was in flight")
            #expect(progress.skipped == 1)
            let skipped = try await fixture.deliveries(of: notification).first { $0.state == .skipped }
            #expect(skipped?.reason?.contains("removed") == true)
            // Nothing needs it any more.
            try await fixture.register(5...5)
            #expect(try await fixture.device(5)?.profile.tags == [])
        }
    }

    /// The device with the token registers as the installation of another device (findings A9 a).
    @Test(arguments: StoreBackend.available, [(1, 6), (6, 1), (2, 1), (5, 6)])
    func aTokenThatGoesToAnotherInstallationIsSentToOnce(backend: StoreBackend, rows: (Int, Int)) async throws {
        try await DispatchFixture.run(backend, page: 2) { fixture in
            let (holder, installation) = rows
            try await fixture.register(1...6)
            try await fixture.register(installation...installation) { $0.installation = "phone" }
            let notification = try await fixture.accept([:])
            fixture.whileSending {
                try await fixture.register(holder...holder) { $0.installation = "phone" }
            }
            try await fixture.settle()
            try await self.expectSound(fixture, notification)
            #expect(
                fixture.sentTokens.contains(.numbered(holder)) || fixture.sentTokens.contains(.numbered(installation))
            )
            #expect(try await fixture.progress(of: notification).progress.recipients == 6)
        }
    }

    /// Token 1 goes from its device, which has had the notification, to the last one, which has not.
    @Test(arguments: StoreBackend.available)
    func aTokenThatWasGivenUpIsNotSentToAgain(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend, page: 2) { fixture in
            for number in 1...6 { try await fixture.register(number...number) { $0.installation = "\(number)" } }
            let notification = try await fixture.accept([:])
            let dispatcher = fixture.dispatcher
            _ = try await dispatcher.step()
            #expect(fixture.sentTokens == [.numbered(1), .numbered(2)])
            try await fixture.register(7...7) { $0.installation = "1" }
            try await fixture.register(1...1) { $0.installation = "6" }
            try await fixture.settle(dispatcher)
            try await self.expectSound(fixture, notification)
            try await fixture.store.expect(notification, accepted: 5, skipped: 1)
        }
    }

    /// Findings A9 b.
    @Test(arguments: StoreBackend.available, [PushEnvironment.sandbox, .production])
    func aTokenInBothEnvironmentsIsAcceptedOnce(backend: StoreBackend, first: PushEnvironment) async throws {
        try await DispatchFixture.run(backend, page: 2, environments: [.sandbox, .production]) { fixture in
            for environment in [first, first.other] { try await fixture.register(1...4, in: environment) }
            for number in 1...2 {
                fixture.sender.script(.numbered(number), in: .production, .refused(400, .badDeviceToken))
            }
            let notification = try await fixture.accept([:])
            try await fixture.settle()
            let end = try await fixture.progress(of: notification)
            #expect(end.state == .done)
            #expect(end.progress.accepted == 4, "each token once")
            #expect(end.progress.finished == 8)
            #expect(end.progress.recipients == 8)
            let accepted = try await fixture.deliveries(of: notification).filter { $0.state == .accepted }
            #expect(Set(accepted.compactMap(\.token)).count == 4)
        }
    }

    @Test(arguments: StoreBackend.available)
    func anInactiveDeviceThatGoesIntoAnotherLeavesNothing(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend, page: 2) { fixture in
            try await fixture.register(1...3)
            try await fixture.register(1...1) { $0.installation = "phone" }
            fixture.time.advance(by: .seconds(10))
            fixture.sender.script(.numbered(2), .refused(410, .unregistered))
            try await fixture.accept([:])
            try await fixture.settle()
            #expect(try await fixture.device(2)?.isActive == false)
            try await fixture.accept([:])
            try await fixture.register(2...2) { $0.installation = "phone" }
            try await fixture.settle()
            let devices = try await fixture.store.devices(
                app: fixture.app,
                audience: .everyone,
                after: 0,
                limit: 10
            )
            #expect(devices.map(\.token) == [.numbered(2), .numbered(3)])
        }
    }

    /// Each of two devices has taken the token that the other one was tried with.
    @Test(arguments: StoreBackend.available)
    func devicesThatSwapTheirTokensDoNotWaitForEachOther(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            for number in 1...2 {
                try await fixture.register(number...number) { $0.installation = "\(number)" }
                fixture.sender.script(.numbered(number), .refused(503, .serviceUnavailable))
            }
            let notification = try await fixture.accept([:])
            try await fixture.settle()
            for (installation, token) in [("2", 9), ("1", 2), ("2", 1)] {
                try await fixture.register(token...token) { $0.installation = installation }
            }
            for _ in 1...10 {
                try await fixture.settle(after: .seconds(30))
            }
            try await fixture.store.expect(notification, .done, accepted: 2)
        }
    }

    @Test(arguments: StoreBackend.available)
    func pushesForOneEnvironmentDoNotFollowADeviceToTheOther(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend, environments: [.sandbox, .production]) { fixture in
            try await fixture.register(1...1)
            let answers: [Outcome] = [.refused(503, .serviceUnavailable), .refused(400, .badDeviceToken)]
            for answer in answers { fixture.sender.script(.numbered(1), in: .sandbox, answer) }
            let notification = try await fixture.accept(["environment": "sandbox"])
            try await fixture.settle()
            try await fixture.accept([:])
            try await fixture.settle()
            #expect(try await fixture.device(1)?.environment == .production)
            try await fixture.settle(after: .seconds(60))
            #expect(try await fixture.progress(of: notification).progress.skipped == 1)
            #expect(fixture.sender.sent.count { $0.environment == .production } == 1, "of the other notification")
        }
    }

    @Test(arguments: StoreBackend.available)
    func pushesForAUserDoNotReachTheNextUserOfTheDevice(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend, page: 2) { fixture in
            try await fixture.register(1...4) { $0.user = .set("alice") }
            fixture.sender.script(.numbered(2), .refused(503, .serviceUnavailable))
            let notification = try await fixture.accept(["to": ["user": "alice"], "urgent": false])
            fixture.whileSending {
                for number in [2, 4] { try await fixture.register(number...number) { $0.user = .set("bob") } }
            }
            try await fixture.settle()
            try await fixture.settle(after: .seconds(60))
            try await self.expectOnce(fixture, notification, to: [1, 2, 3])
            let progress = try await fixture.progress(of: notification).progress
            #expect(progress.accepted == 2)
            #expect(progress.skipped == 1, "it had been tried before, and is bob's now")
        }
    }

    private func expectOnce(
        _ fixture: DispatchFixture,
        _ notification: NotificationRecord,
        to numbers: [Int]
    ) async throws {
        try await self.expectSound(fixture, notification)
        #expect(
            fixture.sentTokens.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) } == numbers.map { .numbered($0) }
        )
    }

    /// A device that moves between the zones of two pages in flight is in the last one only.
    @Test(arguments: StoreBackend.available)
    func aDeviceThatChangesItsTimeZoneIsSentToOnce(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend, page: 10) { fixture in
            try await fixture.register(1...3) { $0.timeZone = .set("Europe/Berlin") }
            try await fixture.register(4...6) { $0.timeZone = .set("Europe/Paris") }
            let notification = try await fixture.accept([
                "when": ["localTime": "2023-11-16T09:00", "defaultTimeZone": "UTC"]
            ])
            fixture.time.advance(by: .seconds(3 * 86_400))
            while await fixture.scheduler.step() {}
            let dispatcher = fixture.dispatcher
            fixture.whileSending {
                try await fixture.register(2...2) { $0.timeZone = .set("Europe/Paris") }
                // The page of the first zone is in flight.
                for claim in try await dispatcher.claimShards(.bulk, limit: 1) { try await dispatcher.sendShard(claim) }
            }
            try await fixture.settle(dispatcher)
            try await self.expectOnce(fixture, notification, to: [1, 2, 3, 4, 5, 6])
        }
    }
}
