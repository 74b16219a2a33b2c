import Foundation
import NIOCore
import PushProtocol
import Synchronization

/// The way from the core to one connected device: a mailbox that is emptied on the connection's event loop.
///
/// However many messages come from other threads, at most one task is scheduled for them at a time.
final class CourierLink: DeviceLink {
    private struct Mailbox {
        var packets: [DevicePacket] = []
        var isScheduled = false
        /// Messages that have left, for faults.
        var count = 0
    }

    private let channel: any Channel
    private let door: CourierDoor
    private let device: Identity
    private let mailbox = Mutex(Mailbox())

    /// What the packets of one device need to know of it.
    struct Identity: Sendable {
        var id: UUID
        var writer: DevicePacketWriter
    }

    init(channel: any Channel, door: CourierDoor, device: Identity) {
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

    private func empty() {
        let (packets, count) = self.mailbox.withLock { mailbox in
            defer {
                mailbox.count += mailbox.packets.count
                mailbox.packets = []
                mailbox.isScheduled = false
            }
            return (mailbox.packets, mailbox.count)
        }
        var ends = false
        var buffer = self.channel.allocator.buffer(capacity: 512)
        for packet in packets {
            switch packet {
            case .message(let message, let id):
                self.device.writer.write(message, id: id, into: &buffer)
                ends = ends || self.door.endsConnection(after: message, ordinal: count + 1)
            case .nothingStored(let topics):
                for token in topics.compactMap({ self.door.token($0, of: self.device.id) }) {
                    CourierPacket(.noStorage, [.bytes(1, token.bytes)]).write(to: &buffer)
                }
            }
        }
        if buffer.readableBytes > 0 { self.channel.writeAndFlush(buffer, promise: nil) }
        if ends { self.channel.close(promise: nil) }
    }
}
