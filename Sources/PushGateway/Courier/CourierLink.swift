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
        let packets = self.mailbox.withLock { mailbox in
            defer { mailbox = Mailbox() }
            return mailbox.packets
        }
        var buffer = self.channel.allocator.buffer(capacity: 512)
        for packet in packets {
            switch packet {
            case .message(let message, let id): self.device.writer.write(message, id: id, into: &buffer)
            case .nothingStored(let topics):
                for token in topics.compactMap({ self.door.token($0, of: self.device.id) }) {
                    CourierPacket(.noStorage, [.bytes(1, token.bytes)]).write(to: &buffer)
                }
            }
        }
        if buffer.readableBytes > 0 { self.channel.writeAndFlush(buffer, promise: nil) }
    }
}
