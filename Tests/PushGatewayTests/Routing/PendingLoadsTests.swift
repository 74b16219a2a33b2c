import Foundation
import NIOCore
import PushTesting
import PushTypes
import PushWire
import Testing

@testable import PushGateway

/// Events of a device while the store is read for it: nothing is lost, repeated or overtaken.
@Suite struct PendingLoadsTests {
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
        let session = play.session
        play.filter()
        play.perform { machine, _ in machine.unfollow(channel, session) }
        play.read([], subscriptions: [channel])
        #expect(play.machine.followers.devices(following: channel).isEmpty)
    }

    @Test func aPushThatIsNotStoredTakesNoStoredOnesPlace() throws {
        var play = try Play()
        play.filter()
        play.submit(2, expiration: .immediate)
        play.read([play.message(1)])
        #expect(play.sent.map(\.sequence) == [2, 1])
    }

    /// Returns a play whose device is inactive, so that a message that need not wake it is held.
    private func playWithHeldMessage() throws -> Play {
        var play = try Play()
        play.filter(DeviceLinkFilter(enabled: [play.hash]))
        play.read([])
        let session = play.session
        play.perform { $0.stateChanged(session, isActive: false, now: $1.now) }
        play.submit(1, priority: .powerAware)
        return play
    }

    @Test func anOlderOneThatWaitsForRoomIsNotDeliveredAfterTheNewer() throws {
        var play = try self.playWithHeldMessage()
        #expect(play.sent.isEmpty)
        play.read([])
        play.submit(2, priority: .immediate)
        play.acknowledgeAll()
        let removed = play.unwritten.changes.compactMap { change -> Int64? in
            if case .removeOlder(let message, keeping: []) = change { message.sequence } else { nil }
        }
        #expect(removed == [2], "what is removed is what is older than this one")
    }

    @Test func howeverManyAreAcknowledgedTogetherOlderOnesAreRemovedOnce() throws {
        var play = try self.playWithHeldMessage()
        play.read([])
        for sequence in 2...101 { play.submit(Int64(sequence), priority: .immediate) }
        #expect(play.sent.count == 100)
        play.acknowledgeAll(newestFirst: true)
        let removed = play.unwritten.changes.compactMap { change -> Int64? in
            if case .removeOlder(let message, keeping: _) = change { message.sequence } else { nil }
        }
        #expect(removed == [101])
    }

    @Test func howeverOftenADeviceAsksTheStoreIsReadOnceAtATime() throws {
        var play = try Play()
        for _ in 0..<1000 { play.filter() }
        #expect(play.unwritten.loads.count == 1)
        play.read([])
        #expect(play.unwritten.loads.count == 1, "and once more")
    }

    @Test func sequencesGoOnAfterWhatSubscriptionsRemember() async throws {
        try await withCore(ManualTime()) { core, device in
            let channel = ChannelName(bundleID: try #require(device.topics.first), id: Self.channel)
            let id = device.id
            try await core.database.commit { tables in
                try tables.broadcasts(.sandbox).subscribe(id, to: channel, limit: 10)
                try tables.broadcasts(.sandbox).advance(id, on: channel, to: 5000)
            }
            let last = try await core.database.read { try $0.lastSequence() }
            #expect(last == 5000)
        }
    }

    /// One connected device and the state machine, without a store.
    private struct Play {
        private(set) var machine = RoutingStateMachine(environment: .sandbox, limits: .init(), power: .init())
        let session = DeviceSession.ID(device: UUID(), number: 1)
        let topic: Topic
        private(set) var sent: [Message] = []
        private var acknowledged = 0
        private var ids: [UInt32] = []
        /// The group that the store is writing.
        private var writing: StoreBatch?

        var hash: TopicHash { TopicHash(self.topic) }

        /// The changes and reads that the store has not completed.
        var unwritten: StoreBatch {
            var batch = self.writing ?? StoreBatch()
            batch.changes += self.machine.batch.changes
            batch.loads += self.machine.batch.loads
            return batch
        }

        init() throws {
            self.topic = try #require(Topic(Vectors.bundleID))
            let session = self.session
            self.perform { $0.connected(session, isActive: true, &$1) }
        }

        mutating func filter(_ filter: DeviceLinkFilter? = nil) {
            let (session, filter) = (self.session, filter ?? DeviceLinkFilter(enabled: [self.hash]))
            self.perform { machine, _ in machine.subscribed(session, to: filter) }
        }

        /// The store has completed its group and, for the read of messages in it, returns these.
        mutating func read(_ messages: [Message], subscriptions: [ChannelName] = []) {
            var outcome = StoreBatch.Outcome()
            for load in self.writing?.loads ?? [] {
                outcome.loaded.append(.init(load: load, messages: messages, subscriptions: subscriptions))
            }
            let batch = self.writing ?? StoreBatch()
            self.writing = nil
            self.perform { $0.written(batch, outcome, isInstalled: { _ in true }, &$1) }
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
                device: self.session.device,
                topicHash: self.hash
            )
            let submission = Submission(push: push, owner: SingleSubmission { _ in }, ticket: 1)
            self.perform { $0.submit([submission], firstSequence: sequence, &$1) }
        }

        mutating func acknowledgeAll(newestFirst: Bool = false) {
            let acks = self.ids.dropFirst(self.acknowledged).map { DeviceLinkAcknowledgement(messageID: $0) }
            self.acknowledged = self.ids.count
            let session = self.session
            self.perform { $0.acknowledged(session, newestFirst ? acks.reversed() : acks, &$1) }
        }

        func message(
            _ sequence: Int64,
            priority: Priority = .immediate,
            expiration: Expiration = .servicePolicy
        ) -> Message {
            Message(
                sequence: sequence,
                device: self.session.device,
                token: [1, 2, 3],
                notification: PushNotification(
                    id: "\(sequence)",
                    topic: self.topic,
                    priority: priority,
                    expiration: expiration,
                    payload: ByteBuffer(string: Vectors.payload)
                ),
                topicHash: self.hash,
                acceptedAt: PendingLoadsTests.now,
                expiresAt: expiration.storageEnd(acceptedAt: PendingLoadsTests.now)
            )
        }

        mutating func perform(_ event: (inout RoutingStateMachine, inout RoutingStateMachine.Actions) -> Void) {
            var actions = RoutingStateMachine.Actions(now: PendingLoadsTests.now)
            event(&self.machine, &actions)
            self.machine.complete(&actions)
            if let batch = actions.batch { self.writing = batch }
            for case (_, .message(let message, let id)) in actions.packets {
                self.sent.append(message)
                self.ids.append(id)
            }
        }
    }
}
