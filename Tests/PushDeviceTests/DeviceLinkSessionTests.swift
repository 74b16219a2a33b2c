import Foundation
import Logging
import NIOCore
import PushTesting
import PushTypes
import PushWire
import Synchronization
import Testing

@testable import PushDevice

/// One connection's work: events in, packets out, without a socket.
@Suite(.timeLimit(.patience)) struct DeviceLinkSessionTests {
    private let tokens = TokenRequests()
    private let channels = ChannelRequests()

    @Test func aMessageIsQueuedAndThenAcknowledged() async throws {
        let (queue, continuation) = AsyncStream.makeStream(of: ReceivedNotification.self)
        var message = try Self.message(7)
        (message.apnsID, message.pushType, message.priority) = ("an id", "alert", 10)
        (message.collapseID, message.channelID) = ("a collapse id", "a channel")
        let (wasConnected, packets) = await self.run([.connected(baseToken: nil), .message(message)], continuation)
        #expect(wasConnected)
        #expect(packets.compactMap { DeviceLinkAcknowledgement($0) }.map(\.messageID) == [7])
        continuation.finish()
        for await notification in queue {
            #expect(notification.deviceToken == Vectors.tokenA)
            #expect(notification.topic == nil, "the device did not ask for it")
            #expect(String(decoding: notification.payload, as: UTF8.self) == Vectors.payload)
            #expect(notification.expiresAt == nil)
            #expect(notification.sentAt.timeIntervalSince1970 == 1_700_000_000)
            #expect(notification.apnsID == "an id")
            #expect(notification.pushType == "alert")
            #expect(notification.priority == 10)
            #expect(notification.collapseID == "a collapse id")
            #expect(notification.channelID == "a channel")
        }
    }

    @Test func withoutRoomInTheQueueAMessageIsNotAcknowledged() async throws {
        let (queue, continuation) = AsyncStream.makeStream(
            of: ReceivedNotification.self,
            bufferingPolicy: .bufferingOldest(2)
        )
        let messages = try (1...4).map { DeviceLinkClientHandler.Event.message(try Self.message($0)) }
        let (_, packets) = await self.run([.connected(baseToken: nil)] + messages, continuation)
        #expect(packets.compactMap { DeviceLinkAcknowledgement($0) }.map(\.messageID) == [1, 2])
        continuation.finish()
        #expect(await queue.reduce(0) { count, _ in count + 1 } == 2)
    }

    @Test func theBaseTokenIsHandedOn() async throws {
        let baseToken = Mutex<[UInt8]?>(nil)
        _ = await self.run([.connected(baseToken: [9])]) { token in baseToken.withLock { $0 = token } }
        #expect(baseToken.withLock { $0 } == [9])
    }

    @Test(arguments: [DeviceLinkClientHandler.Event.failed("reset"), .closed(.rejected), .nothingStored(token: [1])])
    func aConnectionThatWasNeverAcceptedWritesNothing(event: DeviceLinkClientHandler.Event) async {
        let (wasConnected, packets) = await self.run([event])
        #expect(!wasConnected)
        #expect(packets.isEmpty)
    }

    /// Returns whether the device was accepted, and the packets written.
    private func run(
        _ events: [DeviceLinkClientHandler.Event],
        _ queue: AsyncStream<ReceivedNotification>.Continuation? = nil,
        baseTokenChanged: @escaping @Sendable ([UInt8]) -> Void = { _ in }
    ) async -> (Bool, [DeviceLinkPacket]) {
        let session = DeviceLinkSession(
            tokens: self.tokens,
            channels: self.channels,
            queue: queue ?? AsyncStream.makeStream(of: ReceivedNotification.self).continuation,
            logger: silentLogger,
            baseTokenChanged: baseTokenChanged,
            connected: { _ in }
        )
        let (stream, continuation) = AsyncStream.makeStream(of: DeviceLinkClientHandler.Event.self)
        for event in events { continuation.yield(event) }
        continuation.finish()
        let written = PacketLog()
        let wasConnected = await session.run(stream) { written.add($0) }
        return (wasConnected, written.packets)
    }

    private static func message(_ id: UInt32) throws -> DeviceLinkMessage {
        DeviceLinkMessage(
            token: try #require(Hexadecimal.decode(Vectors.tokenA)),
            topic: TopicHash(try #require(Topic(Vectors.bundleID))),
            payload: ByteBuffer(string: Vectors.payload),
            messageID: id,
            expiration: 0,
            sentAt: Timestamp(seconds: 1_700_000_000)
        )
    }
}

/// The packets that were written, in their order.
final class PacketLog: Sendable {
    private let state = Mutex<[DeviceLinkPacket]>([])

    var packets: [DeviceLinkPacket] { self.state.withLock { $0 } }

    func add(_ packet: DeviceLinkPacket) { self.state.withLock { $0.append(packet) } }
}
