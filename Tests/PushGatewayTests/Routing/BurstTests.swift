import Foundation
import NIOCore
import PushTesting
import PushTypes
import PushWire
import Synchronization
import Testing

@testable import PushGateway

/// Many pushes at once to one device: it gets all while it is connected, and each of the others has an event.
@Suite(.timeLimit(.patience)) struct BurstTests {
    let time = ManualTime()

    @Test func aThousandPushesToADeviceThatTakesItsTimeArriveAll() async throws {
        try await withCore(self.time) { core, device in
            try await device.connect(core)
            let responses = Results()
            core.router.submit(try Self.submissions(device, 1...1000, responses))
            // Without acknowledgements, all are accepted because they are stored, none in place of another.
            #expect(await responses.all(1000).allSatisfy { $0.isAccepted })
            #expect(try await core.stored() == 1000)
            #expect(device.link.messages.map(\.notification.id) == (1...1000).map { "\($0)" })
            device.acknowledgeAll(core)
            #expect(try await core.stored() == 0)
            #expect(try await core.count(.delivered, device) == 1000)
            #expect(try await core.count(.storedOffline, device) == 0, "it is online")
            #expect(try await core.count(.replaced, device) == 0)
        }
    }

    @Test func acknowledgementsMayComeInAnyOrder() async throws {
        try await withCore(self.time) { core, device in
            try await device.connect(core)
            let responses = Results()
            core.router.submit(try Self.submissions(device, 1...100, responses))
            _ = await responses.all(100)
            for id in (51...100).reversed() { device.acknowledge(core, [UInt32(id)]) }
            #expect(try await core.stored() == 50)
            device.disconnect(core)
            #expect(try await core.stored() == 1)
            #expect(try await device.connect(core) == ["50"])
        }
    }

    @Test func aboveTheBoundAPushIsRejectedAndNoOtherLost() async throws {
        var limits = RoutingStateMachine.Limits()
        limits.unacknowledged = 2
        try await withCore(self.time, limits: limits) { core, device in
            try await device.connect(core)
            let responses = Results()
            core.router.submit(try Self.submissions(device, 1...3, responses))
            let all = await responses.all(3)
            #expect(
                all.filter { !$0.isAccepted } == [SubmissionResult(ticket: 3, id: "3", rejection: .tooManyRequests)]
            )
            #expect(try await core.count(.tooManyRequests, device) == 1)
            #expect(try await core.count(.received, device) == 2)
            device.acknowledgeAll(core)
            #expect(device.link.messages.map(\.notification.id) == ["1", "2"])
            core.router.submit(try Self.submissions(device, 4...4, responses))
            #expect(device.link.messages.map(\.notification.id) == ["1", "2", "4"], "there is room again")
        }
    }

    @Test(arguments: [true, false]) func bytesAreBoundedToo(isPerDevice: Bool) async throws {
        let cost = try Self.cost(TestDevice().push("1"), at: self.time.now)
        var limits = RoutingStateMachine.Limits()
        if isPerDevice { limits.unacknowledgedBytes = 2 * cost } else { limits.totalBytes = 3 * cost }
        try await withCore(self.time, limits: limits) { core, device in
            try await device.connect(core)
            let responses = Results()
            core.router.submit(try Self.submissions(device, 1...3, responses))
            #expect(await responses.all(3).filter { !$0.isAccepted }.map(\.id) == ["3"])
            device.acknowledgeAll(core)
            #expect(core.router.load.bytes == 0)
        }
    }

    /// A device has at most as much as is free: of 8, one takes 4, and the next one still has 2.
    @Test func aDeviceThatAcknowledgesNothingLeavesRoomForOthers() async throws {
        let cost = try Self.cost(TestDevice().push("1"), at: self.time.now)
        var limits = RoutingStateMachine.Limits()
        limits.totalBytes = 8 * cost
        try await withCore(self.time, limits: limits) { core, device in
            let other = try await core.addDevice()
            for each in [device, other] { try await each.connect(core) }
            let (greedy, modest) = (Results(), Results())
            core.router.submit(try Self.submissions(device, 1...8, greedy))
            #expect(await greedy.all(8).count { $0.isAccepted } == 4)
            core.router.submit(try Self.submissions(other, 1...3, modest))
            #expect(await modest.all(3).count { $0.isAccepted } == 2)
            device.acknowledgeAll(core)
            other.acknowledgeAll(core)
            #expect(core.router.load.bytes == 0)
        }
    }

    @Test func atDisconnectionTheNewestIsStoredAndTheOthersAreReplaced() async throws {
        try await withCore(self.time) { core, device in
            try await device.connect(core)
            let responses = Results()
            core.router.submit(try Self.submissions(device, 1...3, responses))
            device.disconnect(core)
            #expect(await responses.all(3).allSatisfy { $0.isAccepted })
            #expect(try await core.stored() == 1)
            #expect(try await core.count(.replaced, device) == 2)
            #expect(try await core.count(.storedOffline, device) == 1)
            #expect(core.router.load.bytes == 0)
            #expect(try await device.connect(core) == ["3"])
        }
    }

    @Test func whatWasStoredForADeviceThatWasThereIsReplacedToo() async throws {
        try await withCore(self.time) { core, device in
            try await device.connect(core)
            let responses = Results()
            core.router.submit(try Self.submissions(device, 1...3, responses))
            _ = await responses.all(3)
            #expect(try await core.stored() == 3)
            device.disconnect(core)
            #expect(try await core.stored() == 1)
            #expect(try await core.count(.replaced, device) == 2)
            try await core.submit(device.push("4"))
            #expect(try await core.count(.replaced, device) == 3)
            #expect(try await device.connect(core) == ["4"])
        }
    }

    @Test func aGatewayThatEndsKeepsAllThatIsOnItsWay() async throws {
        try await withCore(self.time) { core, device in
            try await device.connect(core)
            let responses = Results()
            core.router.submit(try Self.submissions(device, 1...3, responses))
            try await core.router.end()
            #expect(await responses.all(3).allSatisfy { $0.isAccepted })
            #expect(try await core.stored() == 3)
            #expect(try await device.connect(core) == ["1", "2", "3"])
        }
    }

    /// Acknowledgements of what was never sent, or was acknowledged before, are nothing, however many come.
    @Test func acknowledgementsOfWhatWasNeverSentAreNoProgress() async throws {
        var limits = RoutingStateMachine.Limits()
        limits.unacknowledged = 2
        try await withCore(self.time, limits: limits) { core, device in
            try await device.connect(core)
            let responses = Results()
            core.router.submit(try Self.submissions(device, 1...2, responses))
            _ = await responses.all(2)
            for _ in 0..<60 {
                self.time.advance(by: .seconds(1))
                device.acknowledge(core, Array(3...2000) + [0, .max])
            }
            #expect(try await core.count(.delivered, device) == 0)
            #expect(try await core.stored() == 2)
            core.router.tick()
            #expect(device.link.isClosed)
            device.disconnect(core)
            device.acknowledge(core, [1, 2])
            #expect(try await core.count(.delivered, device) == 0, "the session is over")
            #expect(core.router.load.bytes == 0)
        }
    }

    @Test func aDeviceThatBlocksItselfAndAcknowledgesNothingHasToComeAgain() async throws {
        var limits = RoutingStateMachine.Limits()
        limits.unacknowledged = 2
        try await withCore(self.time, limits: limits) { core, device in
            try await device.connect(core)
            core.router.submit(try Self.submissions(device, 1...2, Results()))
            self.time.advance(by: .seconds(59))
            core.router.tick()
            #expect(!device.link.isClosed)
            self.time.advance(by: .seconds(1))
            core.router.tick()
            #expect(device.link.isClosed)
        }
    }

    @Test func aTopicThatADeviceDoesNotAskForIsNotCalledOffline() async throws {
        try await withCore(self.time) { core, device in
            try await device.connect(core, filter: DeviceLinkFilter(enabled: []))
            try await core.submit(device.push("1"))
            #expect(try await core.count(.storedUnfiltered, device) == 1)
            #expect(try await core.count(.storedOffline, device) == 0)
        }
    }

    @Test func aHeldPushTakesTheHeldOnesPlaceAndLeavesWhatIsOnItsWay() async throws {
        try await withCore(self.time) { core, device in
            try await device.connect(core, isActive: false)
            try await core.submit(device.push("1"))
            for id in ["2", "3"] { try await core.submit(device.push(id, priority: .low)) }
            #expect(device.link.messages.map(\.notification.id) == ["1"])
            #expect(try await core.stored() == 2, "1 is on its way, 3 is held")
            device.acknowledgeAll(core)
            #expect(try await core.stored() == 1)
            core.router.stateChanged(device.session, isActive: true)
            try await core.router.flush()
            #expect(device.link.messages.map(\.notification.id) == ["1", "3"])
        }
    }

    private static func cost(_ push: AcceptedPush, at now: Timestamp) -> Int {
        Message(
            sequence: 1,
            device: push.device,
            token: [],
            notification: push.notification,
            topicHash: push.topicHash,
            acceptedAt: now,
            expiresAt: nil
        ).cost
    }

    private static func submissions(
        _ device: TestDevice,
        _ numbers: ClosedRange<Int>,
        _ responses: Results
    ) throws -> [Submission] {
        try numbers.map { Submission(push: try device.push("\($0)"), owner: responses, ticket: UInt32($0)) }
    }
}

/// The owner of many submissions.
private final class Results: SubmissionDelegate {
    private let (stream, continuation) = AsyncStream.makeStream(of: SubmissionResult.self)

    func settled(_ settlements: [SubmissionResult]) {
        for settlement in settlements { self.continuation.yield(settlement) }
    }

    /// Waits for `count` results, in the order of their tickets.
    func all(_ count: Int) async -> [SubmissionResult] {
        var all: [SubmissionResult] = []
        for await settlement in self.stream {
            all.append(settlement)
            if all.count == count { break }
        }
        return all.sorted { $0.ticket < $1.ticket }
    }
}

extension TestCore {
    fileprivate func count(_ name: Event.Name, _ device: TestDevice) async throws -> Int {
        try await self.router.flush()
        return try await self.events.events(EventFilter(device: device.id), limit: 10_000).count { $0.name == name }
    }
}
