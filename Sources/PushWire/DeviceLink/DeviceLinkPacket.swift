package import NIOCore

/// One packet of the device link: a command and its fields (courier reference, "Packet").
package struct DeviceLinkPacket: Hashable, Sendable {
    /// Largest payload accepted, in bytes: a 5,120-byte notification, a certificate and some room.
    package static let maximumPayloadLength = 32 * 1024
    /// Bytes of command and payload length.
    package static let headerLength = 5

    package struct Field: Hashable, Sendable {
        package var id: UInt8
        /// At most 65,535 bytes.
        package var value: ByteBuffer

        package init(id: UInt8, value: ByteBuffer) {
            self.id = id
            self.value = value
        }
    }

    /// The raw command byte: unknown commands are packets too, and are ignored.
    package var command: UInt8
    package var fields: [Field]

    package init(command: DeviceLinkCommand, fields: [Field] = []) {
        self.command = command.rawValue
        self.fields = fields
    }

    package init(command: UInt8, fields: [Field]) {
        self.command = command
        self.fields = fields
    }
}

/// The commands that have a meaning here.
package enum DeviceLinkCommand: UInt8, Sendable {
    case connect = 7
    case connectResponse = 8
    case filter = 9
    case message = 10
    case messageAck = 11
    case keepAlive = 12
    case keepAliveAck = 13
    case noStorage = 14
    case scopedToken = 17
    case scopedTokenResponse = 18
    case setState = 20
    case channel = 29
    case channelResponse = 32
}

/// Why bytes from the peer are no courier packet.
package enum DeviceLinkPacketError: Error, Hashable, Sendable {
    /// The announced payload is longer than ``DeviceLinkPacket/maximumPayloadLength``.
    case tooLong(UInt32)
    /// A field reaches past the end of the payload, or ends before its header does.
    case truncatedField
}

extension DeviceLinkPacket {
    /// Takes one packet off the front of `buffer`; `nil` until all its bytes are there.
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

    /// The packet's bytes.
    package var encoded: ByteBuffer {
        var buffer = ByteBuffer()
        self.write(to: &buffer)
        return buffer
    }

    /// Appends the packet's bytes. A field value over 65,535 bytes is cut: no caller makes one.
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

/// Reading fields. A field of the wrong size counts as absent: what is required is checked by the reader.
extension DeviceLinkPacket {
    package func value(_ id: UInt8) -> ByteBuffer? {
        self.fields.first { $0.id == id }?.value
    }

    package func bytes(_ id: UInt8) -> [UInt8]? {
        self.value(id).map { Array($0.readableBytesView) }
    }

    package func text(_ id: UInt8) -> String? {
        self.value(id).map { String(buffer: $0) }
    }

    /// The integer in field `id`, if the value has exactly its size.
    package func integer<Value: FixedWidthInteger>(_ id: UInt8, as: Value.Type = Value.self) -> Value? {
        guard var value = self.value(id), value.readableBytes == MemoryLayout<Value>.size else { return nil }
        return value.readInteger(as: Value.self)
    }

    /// Every value of the list `id` that is a topic hash.
    package func topicHashes(_ id: UInt8) -> [TopicHash] {
        self.fields.lazy.filter { $0.id == id }.compactMap { TopicHash(bytes: $0.value.readableBytesView) }
    }

    package func topicHash(_ id: UInt8) -> TopicHash? {
        self.value(id).flatMap { TopicHash(bytes: $0.readableBytesView) }
    }
}

/// Building fields, each for an id and a value; `nil` values are left out by ``DeviceLinkPacket/init(_:_:)``.
extension DeviceLinkPacket.Field {
    package static func bytes(_ id: UInt8, _ value: (some Sequence<UInt8>)?) -> Self? {
        value.map { Self(id: id, value: ByteBuffer(bytes: $0)) }
    }

    package static func buffer(_ id: UInt8, _ value: ByteBuffer?) -> Self? {
        value.map { Self(id: id, value: $0) }
    }

    package static func text(_ id: UInt8, _ value: String?) -> Self? {
        value.map { Self(id: id, value: ByteBuffer(string: $0)) }
    }

    package static func integer(_ id: UInt8, _ value: (some FixedWidthInteger)?) -> Self? {
        value.map { Self(id: id, value: ByteBuffer(integer: $0)) }
    }
}

extension DeviceLinkPacket {
    /// A packet of the fields that are there.
    package init(_ command: DeviceLinkCommand, _ fields: [Field?]) {
        self.init(command: command, fields: fields.compactMap { $0 })
    }
}
