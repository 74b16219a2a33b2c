import PushTesting
import PushTypes
import PushWire
import Testing

@testable import PushGateway

/// Priorities, power state and the lists of a filter (APNs reference 7.2, 7.5, 7.6), on a manual clock.
@Suite(.timeLimit(.patience)) struct PowerRulesTests {
    let time = ManualTime()

    @Test(arguments: [(Priority.immediate, true), (.powerAware, false), (.low, false)])
    func aDeviceThatIsNotInUseIsWokenForTheImmediateOnly(priority: Priority, isDelivered: Bool) async throws {
        try await withCore(self.time) { core, device in
            try await device.connect(core, isActive: false)
            try await core.submit(device.push("1", priority: priority))
            #expect(device.link.messages.isEmpty == !isDelivered)
            #expect(try await core.events(device).contains(.storedPower) == !isDelivered)
        }
    }

    @Test func whatWaitedForPowerComesWhenTheDeviceIsUsed() async throws {
        try await withCore(self.time) { core, device in
            try await device.connect(core, isActive: false)
            try await core.submit(device.push("1", priority: .powerAware))
            try await core.submit(device.push("2", topic: "com.example.Other", priority: .low))
            core.router.stateChanged(device.session, isActive: true)
            try await core.router.flush()
            #expect(device.link.messages.map(\.notification.id) == ["1", "2"])
            device.acknowledgeAll(core)
            #expect(try await core.events(device).suffix(2) == [.deliveredFromStorage, .deliveredFromStorage])
        }
    }

    @Test func aWindowWakesTheDeviceForThePowerAwareButNotForTheLow() async throws {
        try await withCore(self.time) { core, device in
            try await device.connect(core, isActive: false)
            try await core.submit(device.push("1", priority: .powerAware))
            try await core.submit(device.push("2", topic: "com.example.Other", priority: .low))
            self.time.advance(by: .seconds(14 * 60))
            core.router.tick()
            try await core.router.flush()
            #expect(device.link.messages.isEmpty)
            self.time.advance(by: .seconds(60))
            core.router.tick()
            try await core.router.flush()
            #expect(device.link.messages.map(\.notification.id) == ["1"])
        }
    }

    @Test func ofWhatWaitsForPowerOnlyTheNewestIsKept() async throws {
        try await withCore(self.time) { core, device in
            try await device.connect(core, isActive: false)
            try await core.submit(device.push("1", priority: .powerAware))
            try await core.submit(device.push("2", priority: .powerAware))
            core.router.stateChanged(device.session, isActive: true)
            try await core.router.flush()
            #expect(device.link.messages.map(\.notification.id) == ["2"])
        }
    }

    @Test func whatMayNotBeStoredIsNotKeptForPowerEither() async throws {
        try await withCore(self.time) { core, device in
            try await device.connect(core, isActive: false)
            try await core.submit(device.push("1", priority: .powerAware, expiration: .immediate))
            #expect(try await core.events(device).contains(.expired))
            #expect(try await core.stored() == 0)
        }
    }

    @Test func anIgnoredTopicIsDiscarded() async throws {
        try await withCore(self.time) { core, device in
            try await device.connect(core, filter: DeviceLinkFilter(enabled: [], ignored: device.hashes))
            try await core.submit(device.push("1"))
            #expect(try await core.events(device).contains(.disabled))
            #expect(try await core.stored() == 0)
        }
    }

    @Test func whatWasStoredForATopicThatIsIgnoredNowIsDiscarded() async throws {
        try await withCore(self.time) { core, device in
            try await core.submit(device.push("1"))
            try await device.connect(core, filter: DeviceLinkFilter(enabled: [], ignored: device.hashes))
            #expect(device.link.messages.isEmpty)
            #expect(try await core.events(device).contains(.disabledFromStorage))
        }
    }

    @Test func aPausedTopicWaitsUntilItIsEnabled() async throws {
        try await withCore(self.time) { core, device in
            try await device.connect(core, filter: DeviceLinkFilter(enabled: [], paused: device.hashes))
            try await core.submit(device.push("1"))
            #expect(device.link.messages.isEmpty)
            try await device.filter(core, DeviceLinkFilter(enabled: device.hashes))
            #expect(device.link.messages.map(\.notification.id) == ["1"])
        }
    }

    @Test(arguments: [true, false])
    func aNonWakingTopicIsDeliveredOnlyToADeviceInUse(isActive: Bool) async throws {
        try await withCore(self.time) { core, device in
            try await device.connect(
                core,
                isActive: isActive,
                filter: DeviceLinkFilter(enabled: device.hashes, nonWaking: device.hashes)
            )
            try await core.submit(device.push("1"))
            #expect(device.link.messages.isEmpty == !isActive)
        }
    }

    @Test func backgroundNotificationsAreThrottledAndTheNewestWaits() async throws {
        try await withCore(self.time, power: PowerRules(backgroundPerHour: 2)) { core, device in
            try await device.connect(core)
            for id in ["1", "2", "3", "4"] {
                try await core.submit(device.push(id, type: .background, priority: .powerAware))
            }
            #expect(device.link.messages.map(\.notification.id) == ["1", "2"])
            try await core.submit(device.push("alert", topic: "com.example.Other"))
            #expect(device.link.messages.count == 3, "alerts are not throttled")
            device.acknowledgeAll(core)
            self.time.advance(by: .seconds(3600))
            core.router.tick()
            try await core.router.flush()
            #expect(device.link.messages.last?.notification.id == "4")
        }
    }
}
