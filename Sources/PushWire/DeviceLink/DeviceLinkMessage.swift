package import NIOCore
package import PushTypes

/// Command 10: a notification on its way to a device.
///
/// Fields 129 to 133 are Martlet's own. They carry what the provider's headers said and are sent only to a device that
/// asked for them in *Connect* (field 128), so that other clients see exactly the documented packet.
package struct DeviceLinkMessage: Hashable, Sendable {
    package var token: [UInt8]
    package var topic: TopicHash
    package var payload: ByteBuffer
    /// Chosen by the service, echoed in the acknowledgement; unique among unacknowledged messages of a connection.
    package var messageID: UInt32
    /// Seconds since 1970; 0 when it was not to be stored.
    package var expiry: UInt32
    package var sentAt: Timestamp
    /// `apns-id`, field 129.
    package var apnsID: String?
    /// `apns-push-type`, field 130.
    package var pushType: String?
    /// `apns-priority`, field 131.
    package var priority: UInt8?
    /// `apns-collapse-id`, field 132.
    package var collapseID: String?
    /// `apns-channel-id` of a broadcast, field 133.
    package var channelID: String?

    package init(
        token: [UInt8],
        topic: TopicHash,
        payload: ByteBuffer,
        messageID: UInt32,
        expiry: UInt32,
        sentAt: Timestamp,
        apnsID: String? = nil,
        pushType: String? = nil,
        priority: UInt8? = nil,
        collapseID: String? = nil,
        channelID: String? = nil
    ) {
        self.token = token
        self.topic = topic
        self.payload = payload
        self.messageID = messageID
        self.expiry = expiry
        self.sentAt = sentAt
        self.apnsID = apnsID
        self.pushType = pushType
        self.priority = priority
        self.collapseID = collapseID
        self.channelID = channelID
    }

    /// `nil` without token, topic hash, payload or message id.
    package init?(_ packet: DeviceLinkPacket) {
        guard let token = packet.bytes(1), let topic = packet.topicHash(2), let payload = packet.value(3),
            let messageID = packet.integer(4, as: UInt32.self)
        else { return nil }
        self.init(
            token: token,
            topic: topic,
            payload: payload,
            messageID: messageID,
            expiry: packet.integer(5) ?? 0,
            sentAt: Timestamp(milliseconds: Int64(clamping: packet.integer(6, as: UInt64.self) ?? 0) / 1_000_000),
            apnsID: packet.text(129),
            pushType: packet.text(130),
            priority: packet.integer(131),
            collapseID: packet.text(132),
            channelID: packet.text(133)
        )
    }

    package var packet: DeviceLinkPacket {
        let (nanoseconds, overflow) = UInt64(clamping: self.sentAt.milliseconds)
            .multipliedReportingOverflow(by: 1_000_000)
        return DeviceLinkPacket(
            .message,
            [
                .bytes(1, self.token), .bytes(2, self.topic.bytes), .buffer(3, self.payload),
                .integer(4, self.messageID), .integer(5, self.expiry), .integer(6, overflow ? .max : nanoseconds),
                .text(129, self.apnsID), .text(130, self.pushType), .integer(131, self.priority),
                .text(132, self.collapseID), .text(133, self.channelID),
            ]
        )
    }
}

/// Command 11: the device has the message.
package struct DeviceLinkAcknowledgement: Hashable, Sendable {
    package var token: [UInt8]?
    package var messageID: UInt32
    /// 0 is ok, everything else a refusal.
    package var status: UInt8

    package init(token: [UInt8]? = nil, messageID: UInt32, status: UInt8 = 0) {
        self.token = token
        self.messageID = messageID
        self.status = status
    }

    /// `nil` without a message id; a missing status counts as ok.
    package init?(_ packet: DeviceLinkPacket) {
        guard let messageID = packet.integer(4, as: UInt32.self) else { return nil }
        self.init(token: packet.bytes(1), messageID: messageID, status: packet.integer(8) ?? 0)
    }

    package var packet: DeviceLinkPacket {
        DeviceLinkPacket(
            .messageAck,
            [.bytes(1, self.token), .integer(4, self.messageID), .integer(8, self.status)]
        )
    }
}

extension DeviceLinkAcknowledgement {
    /// Takes one *Message ack* off the front of `buffer` without making a packet of it; `nil` when there is something
    /// else, not all of it, or a malformed one, for ``DeviceLinkPacket/read(from:)`` to judge. The token is left out.
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
            // A repeated or odd-sized field is for the general reader.
            if id == 4, size != 4 { return nil }
            index += 3 + Int(size)
        }
        guard let messageID else { return nil }
        buffer.moveReaderIndex(to: end)
        return DeviceLinkAcknowledgement(messageID: messageID, status: status ?? 0)
    }
}
