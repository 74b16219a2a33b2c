import Foundation
import GRDB
import NIOCore
import PushTesting
import PushTypes
import PushWire
import Testing

@testable import PushGateway

/// The scenarios of stored messages of APNs reference 8.13 and related ones, on a manual clock.
@Suite(.timeLimit(.patience)) struct MessageRouterTests {
    let time = ManualTime()

    @Test func ofTwoNotificationsOnlyTheNewestIsKept() async throws {
        try await withCore(self.time) { core, device in
            try await core.submit(device.push("1", expiration: .at(seconds: self.time.now.seconds + 3600)))
            try await core.submit(device.push("2", expiration: .at(seconds: self.time.now.seconds + 3600)))
            #expect(try await device.connect(core) == ["2"])
            #expect(try await core.events(device).contains(.replaced))
        }
    }

    @Test func expirationZeroIsNotKept() async throws {
        try await withCore(self.time) { core, device in
            try await core.submit(device.push("1", expiration: .immediate))
            #expect(try await device.connect(core).isEmpty)
            #expect(try await core.events(device).contains(.expired))
        }
    }

    @Test func whatExpiredIsNotDelivered() async throws {
        try await withCore(self.time) { core, device in
            try await core.submit(device.push("1", expiration: .at(seconds: self.time.now.seconds + 10)))
            self.time.advance(by: .seconds(11))
            #expect(try await device.connect(core).isEmpty)
            #expect(try await core.events(device).contains(.expired))
        }
    }

    @Test func whatIsExpiredAlreadyIsAcceptedAndDiscarded() async throws {
        try await withCore(self.time) { core, device in
            try await core.submit(device.push("1", expiration: .at(seconds: 300)))
            #expect(try await device.connect(core).isEmpty)
            #expect(try await core.events(device).contains(.expired))
        }
    }

    @Test func eachTopicKeepsItsOwn() async throws {
        try await withCore(self.time) { core, device in
            try await core.submit(device.push("1"))
            try await core.submit(device.push("2", topic: "com.example.Other"))
            #expect(try await device.connect(core) == ["1", "2"])
        }
    }

    @Test func notificationsOfOneCollapseIDToAConnectedDeviceAreBothDelivered() async throws {
        try await withCore(self.time) { core, device in
            try await device.connect(core)
            try await core.submit(device.push("1", collapseID: "a"))
            try await core.submit(device.push("2", collapseID: "a"))
            #expect(device.link.messages.map(\.notification.id) == ["1", "2"])
            #expect(device.link.messages.allSatisfy { $0.notification.collapseID == "a" })
        }
    }

    @Test(arguments: [(29, true), (31, false)])
    func withoutExpirationStorageEndsAfterThirtyDays(days: Int, isDelivered: Bool) async throws {
        try await withCore(self.time) { core, device in
            try await core.submit(device.push("1", expiration: .servicePolicy))
            self.time.advance(by: .seconds(days * 86_400))
            core.router.tick()
            #expect(try await device.connect(core).isEmpty == !isDelivered)
        }
    }

    @Test func aPushToAConnectedDeviceHasItsResponseOnceItIsAcknowledged() async throws {
        try await withCore(self.time) { core, device in
            try await device.connect(core)
            device.link.acknowledges(core.router, device.session)
            try await core.submit(device.push("1"))
            #expect(try await core.events(device).contains(.delivered))
            #expect(try await core.stored() == 0)
        }
    }

    @Test func aPushToASilentDeviceIsStoredAndAccepted() async throws {
        try await withCore(self.time) { core, device in
            try await device.connect(core)
            try await core.submit(device.push("1"))
            #expect(try await core.stored() == 1)
            device.acknowledgeAll(core)
            #expect(try await core.stored() == 0, "the acknowledgement takes it out of the store")
        }
    }

    @Test func whatIsNotAcknowledgedComesAgain() async throws {
        try await withCore(self.time) { core, device in
            try await device.connect(core)
            try await core.submit(device.push("1"))
            #expect(device.link.messages.count == 1)
            device.disconnect(core)
            #expect(try await device.connect(core) == ["1"])
        }
    }

    @Test func whatIsAcknowledgedDoesNotComeAgain() async throws {
        try await withCore(self.time) { core, device in
            try await device.connect(core)
            try await core.submit(device.push("1"))
            device.acknowledgeAll(core)
            device.disconnect(core)
            #expect(try await device.connect(core).isEmpty)
        }
    }

    @Test func anAckOfAReplacedNotificationKeepsTheNewerOne() async throws {
        try await withCore(self.time) { core, device in
            try await device.connect(core)
            try await core.submit(device.push("1"))
            try await core.submit(device.push("2"))
            device.acknowledge(core, [1])
            device.disconnect(core)
            #expect(try await device.connect(core) == ["2"])
        }
    }

    @Test func theNewestSessionWinsAndTheOlderIsClosed() async throws {
        try await withCore(self.time) { core, device in
            try await device.connect(core)
            let (oldLink, oldSession) = (device.link, device.session)
            try await device.connect(core)
            #expect(oldLink.isClosed)
            core.router.disconnected(oldSession)
            #expect(core.router.isOnline(device.id), "the older session's end does not end the newer one")
        }
    }

    @Test func aTopicOutsideTheFilterWaits() async throws {
        try await withCore(self.time) { core, device in
            try await device.connect(core, filter: DeviceLinkFilter(enabled: []))
            try await core.submit(device.push("1"))
            #expect(device.link.messages.isEmpty)
            try await device.filter(core, DeviceLinkFilter(enabled: device.hashes))
            #expect(device.link.messages.map(\.notification.id) == ["1"])
        }
    }

    @Test func whatIsStoredWaitsForRoom() async throws {
        var limits = RoutingStateMachine.Limits()
        limits.unacknowledged = 1
        try await withCore(self.time, limits: limits) { core, device in
            try await core.submit(device.push("1"))
            try await core.submit(device.push("2", topic: "com.example.Other"))
            #expect(try await device.connect(core) == ["1"])
            device.acknowledge(core, [1])
            try await core.router.flush()
            #expect(device.link.messages.map(\.notification.id) == ["1", "2"])
        }
    }

    @Test func aDeviceIsToldForWhichTopicsNothingWasKept() async throws {
        try await withCore(self.time) { core, device in
            try await core.submit(device.push("1"))
            try await device.connect(core)
            #expect(device.link.nothingStored == [TopicHash(try #require(Topic("com.example.Other")))])
        }
    }

    @Test func whatWasStoredForARemovedAppIsDiscarded() async throws {
        try await withCore(self.time) { core, device in
            try await core.submit(device.push("1"))
            let topic = try #require(Topic(Vectors.bundleID))
            #expect(try await core.devices.remove(topic, from: device.id, in: .sandbox, now: self.time.now))
            core.router.removed(topic, from: device.id)
            #expect(try await device.connect(core).isEmpty)
            #expect(try await core.events(device).contains(.unregisteredFromStorage))
        }
    }

    @Test func environmentsShareNothing() async throws {
        try await withCore(self.time) { core, device in
            try await core.submit(device.push("1"))
            let other = core.makeRouter(.production)
            let link = TestDevice.Link()
            let session = try #require(other.connected(device.id, isActive: true, connection: link))
            other.subscribed(session, to: DeviceLinkFilter(enabled: device.hashes))
            try await other.flush()
            #expect(link.messages.isEmpty)
            #expect(!core.router.isOnline(device.id))
        }
    }

    @Test func aStoreThatFailsRejectsThePush() async throws {
        try await withCore(self.time) { core, device in
            try await core.database.commit { try $0.database.execute(sql: "DROP TABLE message") }
            #expect(try await core.accepts(device.push("1")) == false)
        }
    }
}
