package import NIOCore

/// A packet of the device link: a command and its fields (device link reference 2).
package struct DeviceLinkPacket: Hashable, Sendable {
    /// The maximum length of a payload, in bytes. It allows for a notification of 5,120 bytes or a certificate.
    package static let maximumPayloadLength = 32 * 1024
    /// The length of a packet's header in bytes: the command and the payload length.
    package static let headerLength = 5

    package struct Field: Hashable, Sendable {
        package var id: UInt8
        /// The value of the field, of at most 65,535 bytes.
        package var value: ByteBuffer

        package init(id: UInt8, value: ByteBuffer) { (self.id, self.value) = (id, value) }
    }

    /// The command byte as received, because packets with unknown commands are valid and ignored.
    package var command: UInt8
    package var fields: [Field]

    package init(command: DeviceLinkCommand) { self.init(command: command.rawValue, fields: []) }

    package init(command: UInt8, fields: [Field]) { (self.command, self.fields) = (command, fields) }
}

/// The known commands (device link reference 3).
package enum DeviceLinkCommand: UInt8, Sendable {
    case connect = 7
    case connectResponse, filter, message, messageAck, keepAlive, keepAliveAck, noStorage
    case scopedToken = 17
    case scopedTokenResponse
    case setState = 20
    case channel = 29
    case channelResponse = 32
}

/// An error in the bytes of a packet.
package enum DeviceLinkPacketError: Error, Hashable, Sendable {
    /// The error for a declared payload length above ``DeviceLinkPacket/maximumPayloadLength``.
    case tooLong(UInt32)
    /// The error for a field that extends, or whose header extends, beyond the end of the payload.
    case truncatedField
}

extension DeviceLinkPacket {
    /// Consumes one packet from the front of `buffer`. Returns `nil` while it is incomplete.
    /// - Throws: ``DeviceLinkPacketError`` if its payload is too long or a field is cut off.
    package static func read(from buffer: inout ByteBuffer) throws(DeviceLinkPacketError) -> DeviceLinkPacket? {
        guard let command = buffer.getInteger(at: buffer.readerIndex, as: UInt8.self),
            let length = buffer.getInteger(at: buffer.readerIndex + 1, as: UInt32.self)
        else { return nil }
        guard length <= UInt32(Self.maximumPayloadLength) else { throw .tooLong(length) }
        guard buffer.readableBytes >= Self.headerLength + Int(length) else { return nil }
        buffer.moveReaderIndex(forwardBy: Self.headerLength)
        guard var payload = buffer.readSlice(length: Int(length)) else { return nil }
        var fields: [Field] = []
        while payload.readableBytes > 0 {
            guard let id = payload.readInteger(as: UInt8.self),
                let value = payload.readLengthPrefixedSlice(as: UInt16.self)
            else { throw .truncatedField }
            fields.append(Field(id: id, value: value))
        }
        return DeviceLinkPacket(command: command, fields: fields)
    }

    package var encoded: ByteBuffer {
        var buffer = ByteBuffer()
        self.write(to: &buffer)
        return buffer
    }

    /// Appends the encoded packet. A field value over 65,535 bytes would be truncated, but no caller passes one.
    package func write(to buffer: inout ByteBuffer) {
        let length = self.fields.reduce(0) { $0 + 3 + min($1.value.readableBytes, Int(UInt16.max)) }
        buffer.reserveCapacity(minimumWritableBytes: Self.headerLength + length)
        buffer.writeInteger(self.command)
        buffer.writeInteger(UInt32(clamping: length))
        for field in self.fields {
            var value = field.value
            let bytes = value.readSlice(length: min(value.readableBytes, Int(UInt16.max))) ?? ByteBuffer()
            buffer.writeInteger(field.id)
            buffer.writeInteger(UInt16(clamping: bytes.readableBytes))
            buffer.writeImmutableBuffer(bytes)
        }
    }
}

/// Access to the fields of a packet. A field of a wrong size counts as absent. The type for each command checks whether
/// required fields are present.
extension DeviceLinkPacket {
    package func value(_ id: UInt8) -> ByteBuffer? { self.fields.first { $0.id == id }?.value }

    package func bytes(_ id: UInt8) -> [UInt8]? { self.value(id).map { Array($0.readableBytesView) } }

    package func text(_ id: UInt8) -> String? { self.value(id).map { String(buffer: $0) } }

    /// Returns the integer in field `id`, or `nil` if the field is absent or has another size than the integer.
    package func integer<Value: FixedWidthInteger>(_ id: UInt8, as: Value.Type = Value.self) -> Value? {
        guard var value = self.value(id), value.readableBytes == MemoryLayout<Value>.size else { return nil }
        return value.readInteger(as: Value.self)
    }

    /// Returns the values of the repeated field `id`, without those that are not topic hashes.
    package func topicHashes(_ id: UInt8) -> [TopicHash] {
        self.fields.lazy.filter { $0.id == id }.compactMap { TopicHash(bytes: $0.value.readableBytesView) }
    }

    package func topicHash(_ id: UInt8) -> TopicHash? {
        self.value(id).flatMap { TopicHash(bytes: $0.readableBytesView) }
    }
}

/// Creates fields from an id and a value. ``DeviceLinkPacket/init(_:_:)`` omits fields without a value.
extension DeviceLinkPacket.Field {
    package static func bytes(_ id: UInt8, _ value: (some Sequence<UInt8>)?) -> Self? {
        value.map { Self(id: id, value: ByteBuffer(bytes: $0)) }
    }

    package static func buffer(_ id: UInt8, _ value: ByteBuffer?) -> Self? { value.map { Self(id: id, value: $0) } }

    package static func text(_ id: UInt8, _ value: String?) -> Self? {
        value.map { Self(id: id, value: ByteBuffer(string: $0)) }
    }

    package static func integer(_ id: UInt8, _ value: (some FixedWidthInteger)?) -> Self? {
        value.map { Self(id: id, value: ByteBuffer(integer: $0)) }
    }
}

extension DeviceLinkPacket {
    /// Creates a packet with the given fields, except those that are `nil`.
    package init(_ command: DeviceLinkCommand, _ fields: [Field?]) {
        self.init(command: command.rawValue, fields: fields.compactMap { $0 })
    }
}
