package import NIOCore
package import PushTypes

/// A notification and its format on the wire (reference 5.1).
package struct BinaryFrame: Hashable, Sendable {
    /// The accepted token lengths in bytes. No shorter token was ever minted, and the interface allows no longer one.
    package static let tokenLengths = 32...100
    /// The length in bytes of the longest frame that is read. Twice the legal length, so that the error packet for a
    /// payload that is slightly too long can name its notification.
    package static let maximumFrameLength = 8192

    package var command: BinaryCommand
    package var notification: BinaryNotification

    package init(command: BinaryCommand, notification: BinaryNotification) {
        (self.command, self.notification) = (command, notification)
    }

    /// The bytes of the frame.
    package var encoded: ByteBuffer {
        var buffer = ByteBuffer()
        self.write(to: &buffer)
        return buffer
    }

    /// Appends the bytes of the frame. A token or payload over 65,535 bytes is truncated; ``validationError`` detects it
    /// beforehand.
    package func write(to buffer: inout ByteBuffer) {
        switch self.command {
        case .simple:
            buffer.writeInteger(self.command.rawValue)
            self.writeTokenAndPayload(to: &buffer)
        case .enhanced:
            buffer.writeInteger(self.command.rawValue)
            buffer.writeMultipleIntegers(self.notification.identifier, self.notification.expiration ?? 0)
            self.writeTokenAndPayload(to: &buffer)
        case .framed:
            self.writeItems(to: &buffer)
        }
    }

    /// The status with which a server rejects this notification before it looks the token up; `nil` if the
    /// notification is valid.
    package var validationError: BinaryStatus? {
        Self.error(tokenLength: self.notification.token.count)
            ?? Self.error(payloadLength: self.notification.payload.readableBytes, command: self.command)
    }

    static func error(tokenLength length: Int) -> BinaryStatus? {
        if length == 0 { return .missingDeviceToken }
        return Self.tokenLengths.contains(length) ? nil : .invalidTokenSize
    }

    static func error(payloadLength length: Int, command: BinaryCommand) -> BinaryStatus? {
        if length == 0 { return .missingPayload }
        return length <= command.maximumPayloadLength ? nil : .invalidPayloadSize
    }

    private func writeTokenAndPayload(to buffer: inout ByteBuffer) {
        Self.write(ByteBuffer(bytes: self.notification.token), to: &buffer)
        Self.write(self.notification.payload, to: &buffer)
    }

    private func writeItems(to buffer: inout ByteBuffer) {
        var items = ByteBuffer()
        items.writeInteger(BinaryItem.token.rawValue)
        Self.write(ByteBuffer(bytes: self.notification.token), to: &items)
        items.writeInteger(BinaryItem.payload.rawValue)
        Self.write(self.notification.payload, to: &items)
        if self.notification.identifier != 0 {
            items.writeMultipleIntegers(BinaryItem.identifier.rawValue, UInt16(4), self.notification.identifier)
        }
        if let expiration = self.notification.expiration {
            items.writeMultipleIntegers(BinaryItem.expiration.rawValue, UInt16(4), expiration)
        }
        if let priority = self.notification.priority {
            items.writeMultipleIntegers(BinaryItem.priority.rawValue, UInt16(1), priority.rawValue)
        }
        buffer.writeInteger(self.command.rawValue)
        buffer.writeInteger(UInt32(clamping: items.readableBytes))
        buffer.writeImmutableBuffer(items)
    }

    private static func write(_ bytes: ByteBuffer, to buffer: inout ByteBuffer) {
        let value = bytes.getSlice(at: bytes.readerIndex, length: min(bytes.readableBytes, Int(UInt16.max))) ?? bytes
        buffer.writeInteger(UInt16(clamping: value.readableBytes))
        buffer.writeImmutableBuffer(value)
    }
}

/// The item numbers of command 2 (reference 5.1).
enum BinaryItem: UInt8 {
    case token = 1
    case payload, identifier, expiration, priority
}
