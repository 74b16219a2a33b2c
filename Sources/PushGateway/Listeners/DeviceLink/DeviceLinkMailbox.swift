import Foundation
import NIOCore
import PushTypes
import PushWire
import Synchronization

/// Queues the router's packets for a connected device. The connection's event loop sends them as the device reads.
///
/// At most one task is scheduled at a time, however many messages arrive from other threads. Packets stay in the queue
/// while the connection is not writable. The router limits their number.
final class DeviceLinkMailbox: DeviceConnection {
    private struct Queue {
        var packets: [DevicePacket] = []
        var first = 0
        /// A Boolean value that indicates whether the queue will be emptied, by a scheduled task or when the connection
        /// becomes writable.
        var isScheduled = false
        /// The number of packets written so far, by which fault rules count the messages of the connection.
        var count = 0
    }

    /// The properties of a device on which the form of its packets depends.
    struct Recipient: Sendable {
        var id: UUID
        var baseToken: [UInt8]
        var understandsExtensions: Bool
    }

    /// The maximum number of packets that are written together. That many of the largest packets have about 350 kB.
    private static let chunk = 64

    private let channel: any Channel
    private let listener: DeviceLinkListener
    private let recipient: Recipient
    private let queue = Mutex(Queue())

    init(channel: any Channel, listener: DeviceLinkListener, recipient: Recipient) {
        (self.channel, self.listener, self.recipient) = (channel, listener, recipient)
    }

    /// Adds packets to the queue. The router calls this on any thread.
    func send(_ packets: [DevicePacket]) {
        let needsTask = self.queue.withLock { queue in
            queue.packets += packets
            defer { queue.isScheduled = true }
            return !queue.isScheduled
        }
        if needsTask { self.channel.eventLoop.execute { self.empty() } }
    }

    /// Closes the connection and drops the queued packets. The router calls this when it ends the session.
    func close() { self.channel.close(promise: nil) }

    /// Resumes writing. This method is called on the event loop when the connection is writable again.
    func resume() { self.empty() }

    /// Writes queued packets while the connection is writable. This method runs on the event loop.
    private func empty() {
        while self.channel.isWritable, let (packets, count) = self.nextChunk() { self.write(packets, after: count) }
    }

    /// Removes the next packets from the queue and returns them with the number of packets written before, or `nil` if
    /// the queue is empty.
    private func nextChunk() -> (packets: ArraySlice<DevicePacket>, count: Int)? {
        self.queue.withLock { queue in
            let packets = queue.packets[queue.first...].prefix(Self.chunk)
            guard !packets.isEmpty else {
                queue.isScheduled = false
                return nil
            }
            defer { queue.count += packets.count }
            queue.first += packets.count
            if queue.first == queue.packets.count {
                (queue.packets, queue.first) = ([], 0)
            } else if queue.first > queue.packets.count / 2 {
                queue.packets.removeFirst(queue.first)
                queue.first = 0
            }
            return (packets, queue.count)
        }
    }

    private func write(_ packets: ArraySlice<DevicePacket>, after count: Int) {
        var ends = false
        var buffer = self.channel.allocator.buffer(capacity: 512)
        for packet in packets {
            switch packet {
            case .message(let message, let id):
                DeviceLinkMessage(
                    message,
                    id: id,
                    baseToken: self.recipient.baseToken,
                    hasExtensions: self.recipient.understandsExtensions
                ).write(to: &buffer)
                ends = ends || self.listener.endsConnection(after: message, ordinal: count + 1)
            case .nothingStored(let topics):
                for token in topics.compactMap({ self.listener.token($0, of: self.recipient.id) }) {
                    DeviceLinkPacket(.noStorage, [.bytes(1, token.bytes)]).write(to: &buffer)
                }
            }
        }
        if buffer.readableBytes > 0 { self.channel.writeAndFlush(buffer, promise: nil) }
        if ends { self.channel.close(promise: nil) }
    }
}

extension DeviceLinkMessage {
    /// Creates the message in the form of the device link protocol.
    /// - Parameters:
    ///   - baseToken: The device's base token, which a broadcast contains instead of a device token.
    ///   - hasExtensions: Whether the device requested fields 129 to 133 (device link reference 6).
    init(_ message: Message, id: UInt32, baseToken: [UInt8], hasExtensions: Bool) {
        let notification = message.notification
        self.init(
            token: message.channel == nil ? message.token : baseToken,
            topic: message.topicHash,
            payload: notification.payload,
            messageID: id,
            expiration: message.expiresAt.map { UInt32(clamping: $0.seconds) } ?? 0,
            sentAt: message.acceptedAt
        )
        guard hasExtensions else { return }
        self.apnsID = notification.id
        self.pushType = notification.pushType?.rawValue
        self.priority = notification.priority.rawValue
        self.collapseID = notification.collapseID
        self.channelID = message.channel?.id
    }
}
