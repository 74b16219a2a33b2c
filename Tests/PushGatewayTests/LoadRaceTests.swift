import Foundation
import GRDB
import NIOCore
import PushTesting
import PushTypes
import PushWire
import Testing

@testable import PushGateway

/// What happens to a device while the store is being read for it: nothing is lost, doubled or overtaken.
@Suite struct LoadRaceTests {
    private static let now = Vectors.issuedAt
    private static let channel = "dGVzdC1jaGFubmVsLTAx"

    @Test func whatIsAcknowledgedWhileItIsReadAgainDoesNotComeTwice() throws {
        var play = try Play()
        let message = play.message(1)
        play.filter()
        play.read([message])
        #expect(play.sent.map(\.sequence) == [1])
        play.filter()
        play.acknowledgeAll()
        play.read([message])
        #expect(play.sent.map(\.sequence) == [1])
    }

    @Test func aChannelThatIsUnfollowedWhileItIsReadStaysUnfollowed() throws {
        var play = try Play()
        let channel = ChannelName(bundleID: play.topic, id: Self.channel)
        play.filter()
        play.machine.unfollow(channel, play.device, session: 1)
        play.read([], subscriptions: [channel])
        #expect(play.machine.followers[channel] == nil)
    }

    @Test func aPushThatIsNotStoredTakesNoStoredOnesPlace() throws {
        var play = try Play()
        play.filter()
        play.submit(2, expiration: .immediate)
        play.read([play.message(1)])
        #expect(play.sent.map(\.sequence) == [2, 1])
    }

    @Test func anOlderOneThatWaitsForRoomIsNotDeliveredAfterTheNewer() throws {
        var play = try Play()
        play.filter(DeviceLinkFilter(enabled: [play.hash]))
        play.read([])
        play.machine.stateChanged(play.device, session: 1, isActive: false, now: Self.now)
        play.submit(1, priority: .powerAware)
        #expect(play.sent.isEmpty)
        _ = play.machine.takeBatch()
        play.submit(2, priority: .immediate)
        play.acknowledgeAll()
        let removed = play.machine.takeBatch()?.changes.compactMap { change -> Int64? in
            if case .removeOlder(let message, beside: []) = change { message.sequence } else { nil }
        }
        #expect(removed == [2], "what is removed is what is older than this one")
    }

    @Test func howeverOftenADeviceAsksTheStoreIsReadOnceAtATime() throws {
        var play = try Play()
        for _ in 0..<1000 { play.filter() }
        #expect(play.machine.takeBatch()?.loads.count == 1)
        play.read([])
        #expect(play.machine.takeBatch()?.loads.count == 1, "and once more")
    }

    @Test func sequencesGoOnAfterWhatSubscriptionsRemember() async throws {
        try await withCore(ManualTime()) { core, device in
            let channel = ChannelName(bundleID: try #require(device.topics.first), id: Self.channel)
            let id = device.id
            try await core.commit.write { database in
                let tables = ChannelTables(database: database, environment: .sandbox)
                try tables.subscribe(id, to: channel, limit: 10)
                try tables.advance(id, on: channel, to: 5000)
            }
            let last = try await core.database.read { try MessageTable.lastSequence($0) }
            #expect(last == 5000)
        }
    }

    /// One connected device and the machine, without store and links.
    private struct Play {
        var machine = RoutingMachine(environment: .sandbox, limits: .init(), power: .init())
        let device = UUID()
        let link = TestDevice.Link()
        let topic: Topic
        private(set) var sent: [Message] = []
        private var acknowledged = 0
        private var ids: [UInt32] = []

        var hash: TopicHash { TopicHash(self.topic) }

        init() throws {
            self.topic = try #require(Topic(Vectors.bundleID))
            let (device, link) = (self.device, self.link)
            self.perform { machine, effects in
                machine.connected(
                    device,
                    session: 1,
                    isActive: true,
                    link: link,
                    now: LoadRaceTests.now,
                    &effects
                )
            }
        }

        mutating func filter(_ filter: DeviceLinkFilter? = nil) {
            self.machine.subscribed(self.device, session: 1, to: filter ?? DeviceLinkFilter(enabled: [self.hash]))
        }

        mutating func read(_ messages: [Message], subscriptions: [ChannelName] = []) {
            _ = self.machine.takeBatch()
            let load = StoreLoad(device: self.device, session: 1, part: .messages(isFirst: true))
            let loaded = LoadedMessages(load: load, messages: messages, subscriptions: subscriptions)
            self.perform { $0.loaded(loaded, isInstalled: { _ in true }, now: LoadRaceTests.now, &$1) }
        }

        mutating func submit(
            _ sequence: Int64,
            priority: Priority = .immediate,
            expiration: Expiration = .servicePolicy
        ) {
            let message = self.message(sequence, priority: priority, expiration: expiration)
            guard let token = DeviceToken(bytes: message.token) else { return }
            let push = AcceptedPush(
                notification: message.notification,
                token: token,
                device: self.device,
                topicHash: self.hash
            )
            let submission = Submission(push: push, owner: SingleSubmission { _ in }, ticket: 1)
            self.perform { $0.submit(submission, sequence: sequence, now: LoadRaceTests.now, &$1) }
        }

        mutating func acknowledgeAll() {
            let acks = self.ids.dropFirst(self.acknowledged).map { DeviceLinkAcknowledgement(messageID: $0) }
            self.acknowledged = self.ids.count
            let device = self.device
            self.perform { $0.acknowledged(device, session: 1, acks, now: LoadRaceTests.now, &$1) }
        }

        func message(
            _ sequence: Int64,
            priority: Priority = .immediate,
            expiration: Expiration = .servicePolicy
        ) -> Message {
            Message(
                sequence: sequence,
                device: self.device,
                token: [1, 2, 3],
                notification: PushNotification(
                    id: "\(sequence)",
                    topic: self.topic,
                    priority: priority,
                    expiration: expiration,
                    payload: ByteBuffer(string: Vectors.payload)
                ),
                topicHash: self.hash,
                acceptedAt: LoadRaceTests.now,
                expiresAt: expiration.storageEnd(acceptedAt: LoadRaceTests.now)
            )
        }

        private mutating func perform(_ body: (inout RoutingMachine, inout RoutingMachine.Effects) -> Void) {
            var effects = RoutingMachine.Effects()
            var machine = self.machine
            body(&machine, &effects)
            self.machine = machine
            for case (_, .message(let message, let id)) in effects.packets {
                self.sent.append(message)
                self.ids.append(id)
            }
        }
    }
}
