import NIOCore
import PushTypes
import PushWire

/// Writes messages as courier packets straight into a buffer: the bytes of ``DeviceLinkMessage/packet``, without its fields.
struct DevicePacketWriter: Sendable {
    /// Field 1 of a broadcast, which has no device token of its own.
    var baseToken: [UInt8]
    /// Whether the device asked for fields 129 to 133.
    var understandsExtensions: Bool

    func write(_ message: Message, id: UInt32, into buffer: inout ByteBuffer) {
        let notification = message.notification
        let start = buffer.writerIndex
        buffer.reserveCapacity(minimumWritableBytes: notification.payload.readableBytes + 384)
        buffer.writeMultipleIntegers(DeviceLinkCommand.message.rawValue, UInt32(0))
        Self.field(1, message.channel == nil ? message.token : self.baseToken, &buffer)
        Self.field(2, message.topicHash.bytes, &buffer)
        buffer.writeMultipleIntegers(UInt8(3), UInt16(clamping: notification.payload.readableBytes))
        buffer.writeImmutableBuffer(notification.payload)
        let expiry = message.expiresAt.map { UInt32(clamping: $0.seconds) } ?? 0
        buffer.writeMultipleIntegers(UInt8(4), UInt16(4), id, UInt8(5), UInt16(4), expiry)
        let (nanoseconds, overflow) = UInt64(clamping: message.acceptedAt.milliseconds)
            .multipliedReportingOverflow(by: 1_000_000)
        buffer.writeMultipleIntegers(UInt8(6), UInt16(8), overflow ? .max : nanoseconds)
        if self.understandsExtensions {
            Self.field(129, notification.id, &buffer)
            if let type = notification.pushType { Self.field(130, type.rawValue, &buffer) }
            buffer.writeMultipleIntegers(UInt8(131), UInt16(1), notification.priority.rawValue)
            if let collapseID = notification.collapseID { Self.field(132, collapseID, &buffer) }
            if let channel = message.channel { Self.field(133, channel.id, &buffer) }
        }
        let length = buffer.writerIndex - start - DeviceLinkPacket.headerLength
        buffer.setInteger(UInt32(clamping: length), at: start + 1)
    }

    private static func field(_ id: UInt8, _ bytes: [UInt8], _ buffer: inout ByteBuffer) {
        buffer.writeMultipleIntegers(id, UInt16(clamping: bytes.count))
        buffer.writeBytes(bytes)
    }

    private static func field(_ id: UInt8, _ text: String, _ buffer: inout ByteBuffer) {
        buffer.writeMultipleIntegers(id, UInt16(clamping: text.utf8.count))
        buffer.writeString(text)
    }
}
