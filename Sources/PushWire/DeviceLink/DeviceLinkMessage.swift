package import NIOCore
package import PushTypes

/// Command 10, *Message*: a notification for a device (device link reference 3). Fields 129 to 133, which Martlet
/// defines, contain the provider's request headers (device link reference 6). They are sent only to a device that
/// requested them in *Connect*, so that other clients receive exactly the documented packet.
package struct DeviceLinkMessage: Hashable, Sendable {
    package var token: [UInt8]
    package var topic: TopicHash
    package var payload: ByteBuffer
    /// The number by which the acknowledgement names the message, unique among a connection's unacknowledged messages.
    package var messageID: UInt32
    /// The expiration in UNIX seconds, or 0 for a message that is not stored.
    package var expiration: UInt32
    package var sentAt: Timestamp
    /// The value of `apns-id`, field 129, or `nil` if it is absent.
    package var apnsID: String?
    /// The value of `apns-push-type`, field 130, or `nil` if it is absent.
    package var pushType: String?
    /// The value of `apns-priority`, field 131, or `nil` if it is absent.
    package var priority: UInt8?
    /// The value of `apns-collapse-id`, field 132, or `nil` if it is absent.
    package var collapseID: String?
    /// The value of `apns-channel-id` for a broadcast, field 133, or `nil` if it is absent.
    package var channelID: String?

    /// Creates a message without extension fields.
    package init(
        token: [UInt8],
        topic: TopicHash,
        payload: ByteBuffer,
        messageID: UInt32,
        expiration: UInt32,
        sentAt: Timestamp
    ) {
        (self.token, self.topic, self.payload) = (token, topic, payload)
        (self.messageID, self.expiration, self.sentAt) = (messageID, expiration, sentAt)
    }

    /// Parses the packet. Returns `nil` if the token, topic hash, payload or message id is missing.
    package init?(_ packet: DeviceLinkPacket) {
        guard let token = packet.bytes(1), let topic = packet.topicHash(2), let payload = packet.value(3),
            let messageID = packet.integer(4, as: UInt32.self)
        else { return nil }
        let nanoseconds = packet.integer(6, as: UInt64.self) ?? 0
        self.init(
            token: token,
            topic: topic,
            payload: payload,
            messageID: messageID,
            expiration: packet.integer(5) ?? 0,
            sentAt: Timestamp(milliseconds: Int64(clamping: nanoseconds) / 1_000_000)
        )
        self.apnsID = packet.text(129)
        self.pushType = packet.text(130)
        self.priority = packet.integer(131)
        self.collapseID = packet.text(132)
        self.channelID = packet.text(133)
    }

    package var packet: DeviceLinkPacket {
        DeviceLinkPacket(
            .message,
            [
                .bytes(1, self.token), .bytes(2, self.topic.bytes), .buffer(3, self.payload),
                .integer(4, self.messageID), .integer(5, self.expiration), .integer(6, self.nanoseconds),
                .text(129, self.apnsID), .text(130, self.pushType), .integer(131, self.priority),
                .text(132, self.collapseID), .text(133, self.channelID),
            ]
        )
    }

    private var nanoseconds: UInt64 {
        let (product, overflow) = UInt64(clamping: self.sentAt.milliseconds)
            .multipliedReportingOverflow(by: 1_000_000)
        return overflow ? .max : product
    }
}

extension DeviceLinkMessage {
    /// Appends the encoded ``packet`` without creating its fields. The gateway writes each push in this way.
    package func write(to buffer: inout ByteBuffer) {
        let start = buffer.writerIndex
        buffer.reserveCapacity(minimumWritableBytes: self.payload.readableBytes + 384)
        buffer.writeMultipleIntegers(DeviceLinkCommand.message.rawValue, UInt32(0))
        Self.write(1, count: self.token.count, to: &buffer)
        buffer.writeBytes(self.token)
        Self.write(2, count: TopicHash.length, to: &buffer)
        self.topic.write(to: &buffer)
        Self.write(3, count: self.payload.readableBytes, to: &buffer)
        buffer.writeImmutableBuffer(self.payload)
        buffer.writeMultipleIntegers(UInt8(4), UInt16(4), self.messageID, UInt8(5), UInt16(4), self.expiration)
        buffer.writeMultipleIntegers(UInt8(6), UInt16(8), self.nanoseconds)
        Self.write(129, self.apnsID, to: &buffer)
        Self.write(130, self.pushType, to: &buffer)
        if let priority { buffer.writeMultipleIntegers(UInt8(131), UInt16(1), priority) }
        Self.write(132, self.collapseID, to: &buffer)
        Self.write(133, self.channelID, to: &buffer)
        let length = buffer.writerIndex - start - DeviceLinkPacket.headerLength
        buffer.setInteger(UInt32(clamping: length), at: start + 1)
    }

    private static func write(_ id: UInt8, count: Int, to buffer: inout ByteBuffer) {
        buffer.writeMultipleIntegers(id, UInt16(clamping: count))
    }

    private static func write(_ id: UInt8, _ text: String?, to buffer: inout ByteBuffer) {
        guard let text else { return }
        self.write(id, count: text.utf8.count, to: &buffer)
        buffer.writeString(text)
    }
}

/// Command 11, *Message ack*: the device's acknowledgement of a message (device link reference 3).
package struct DeviceLinkAcknowledgement: Hashable, Sendable {
    package var token: [UInt8]?
    package var messageID: UInt32
    /// The status, which is 0 for success. With any other value, the device rejects the message.
    package var status: UInt8

    package init(token: [UInt8]? = nil, messageID: UInt32, status: UInt8 = 0) {
        (self.token, self.messageID, self.status) = (token, messageID, status)
    }

    /// Parses the packet. Returns `nil` if the message id is missing. A missing status counts as success.
    package init?(_ packet: DeviceLinkPacket) {
        guard let messageID = packet.integer(4, as: UInt32.self) else { return nil }
        self.init(token: packet.bytes(1), messageID: messageID, status: packet.integer(8) ?? 0)
    }

    package var packet: DeviceLinkPacket {
        DeviceLinkPacket(.messageAck, [.bytes(1, self.token), .integer(4, self.messageID), .integer(8, self.status)])
    }
}

extension DeviceLinkAcknowledgement {
    /// Consumes one *Message ack* from the front of `buffer`. For speed, it creates no ``DeviceLinkPacket``, and omits
    /// the token. Returns `nil` for another command, an incomplete packet and a malformed packet.
    /// ``DeviceLinkPacket/read(from:)`` distinguishes these cases.
    package static func read(from buffer: inout ByteBuffer) -> DeviceLinkAcknowledgement? {
        let start = buffer.readerIndex
        guard buffer.getInteger(at: start, as: UInt8.self) == DeviceLinkCommand.messageAck.rawValue,
            let length = buffer.getInteger(at: start + 1, as: UInt32.self),
            length <= UInt32(DeviceLinkPacket.maximumPayloadLength),
            buffer.readableBytes >= DeviceLinkPacket.headerLength + Int(length)
        else { return nil }
        var index = start + DeviceLinkPacket.headerLength
        let end = index + Int(length)
        var messageID: UInt32?
        var status: UInt8?
        while index < end {
            guard index + 3 <= end, let id = buffer.getInteger(at: index, as: UInt8.self),
                let size = buffer.getInteger(at: index + 1, as: UInt16.self), index + 3 + Int(size) <= end
            else { return nil }
            if id == 4, size == 4, messageID == nil { messageID = buffer.getInteger(at: index + 3) }
            if id == 8, size == 1, status == nil { status = buffer.getInteger(at: index + 3) }
            // The general parser handles a field with an unexpected size.
            if id == 4, size != 4 { return nil }
            index += 3 + Int(size)
        }
        guard let messageID else { return nil }
        buffer.moveReaderIndex(to: end)
        return DeviceLinkAcknowledgement(messageID: messageID, status: status ?? 0)
    }
}
