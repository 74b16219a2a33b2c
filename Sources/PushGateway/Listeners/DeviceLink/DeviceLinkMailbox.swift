import Foundation
import NIOCore
import PushTypes
import PushWire
import Synchronization

/// The way from the core to one connected device: a mailbox that is emptied on the connection's event loop, as fast as
/// the device reads.
///
/// However many messages come from other threads, at most one task is scheduled for them at a time. What the connection
/// does not take yet costs no more than its place here: the core bounds how much that can be.
final class DeviceLinkMailbox: DeviceConnection {
    private struct Mailbox {
        var packets: [DevicePacket] = []
        /// The first of them that has not left.
        var first = 0
        /// Is set while a task, or the connection once it is writable, will empty the buffer.
        var isScheduled = false
        /// Messages that have left, for faults.
        var count = 0
    }

    /// Packets written together: some 350 kB of the largest.
    private static let chunk = 64

    private let channel: any Channel
    private let door: DeviceLinkListener
    private let device: Identity
    private let mailbox = Mutex(Mailbox())

    /// What the packets of one device need to know of it.
    struct Identity: Sendable {
        var id: UUID
        var writer: DevicePacketWriter
    }

    init(channel: any Channel, door: DeviceLinkListener, device: Identity) {
        self.channel = channel
        self.door = door
        self.device = device
    }

    func send(_ packets: [DevicePacket]) {
        let schedules = self.mailbox.withLock { mailbox in
            mailbox.packets += packets
            defer { mailbox.isScheduled = true }
            return !mailbox.isScheduled
        }
        if schedules { self.channel.eventLoop.execute { self.empty() } }
    }

    func close() { self.channel.close(promise: nil) }

    /// On the event loop: the connection takes more.
    func resume() { self.empty() }

    private func empty() {
        while self.channel.isWritable, let (packets, count) = self.nextChunk() { self.write(packets, after: count) }
    }

    private func nextChunk() -> (packets: ArraySlice<DevicePacket>, count: Int)? {
        self.mailbox.withLock { mailbox in
            let packets = mailbox.packets[mailbox.first...].prefix(Self.chunk)
            guard !packets.isEmpty else {
                mailbox.isScheduled = false
                return nil
            }
            defer { mailbox.count += packets.count }
            mailbox.first += packets.count
            if mailbox.first == mailbox.packets.count {
                (mailbox.packets, mailbox.first) = ([], 0)
            } else if mailbox.first > mailbox.packets.count / 2 {
                mailbox.packets.removeFirst(mailbox.first)
                mailbox.first = 0
            }
            return (packets, mailbox.count)
        }
    }

    private func write(_ packets: ArraySlice<DevicePacket>, after count: Int) {
        var ends = false
        var buffer = self.channel.allocator.buffer(capacity: 512)
        for packet in packets {
            switch packet {
            case .message(let message, let id):
                self.device.writer.write(message, id: id, into: &buffer)
                ends = ends || self.door.endsConnection(after: message, ordinal: count + 1)
            case .nothingStored(let topics):
                for token in topics.compactMap({ self.door.token($0, of: self.device.id) }) {
                    DeviceLinkPacket(.noStorage, [.bytes(1, token.bytes)]).write(to: &buffer)
                }
            }
        }
        if buffer.readableBytes > 0 { self.channel.writeAndFlush(buffer, promise: nil) }
        if ends { self.channel.close(promise: nil) }
    }
}
