package import NIOCore
package import PushTypes

/// A notification with its encoding in the binary protocol (APNs reference 5.1).
package struct BinaryFrame: Hashable, Sendable {
    /// The accepted token lengths in bytes. No shorter token was ever issued, and the protocol allows no longer one.
    package static let tokenLengths = 32...100
    /// The maximum length of a frame that is read, in bytes. It is twice the legal length, so that a notification with
    /// a payload that is slightly too long can still be read and named in an error packet.
    package static let maximumFrameLength = 8192

    package var command: BinaryCommand
    package var notification: BinaryNotification

    package init(command: BinaryCommand, notification: BinaryNotification) {
        (self.command, self.notification) = (command, notification)
    }

    package var encoded: ByteBuffer {
        var buffer = ByteBuffer()
        self.write(to: &buffer)
        return buffer
    }

    /// Appends the encoded frame. A token or payload over 65,535 bytes is truncated, but ``validationError`` reports
    /// this.
    package func write(to buffer: inout ByteBuffer) {
        switch self.command {
        case .simple:
            buffer.writeInteger(self.command.rawValue)
            self.writeTokenAndPayload(to: &buffer)
        case .enhanced:
            buffer.writeInteger(self.command.rawValue)
            buffer.writeMultipleIntegers(self.notification.identifier, self.notification.expiration ?? 0)
            self.writeTokenAndPayload(to: &buffer)
        case .framed: self.writeItems(to: &buffer)
        }
    }

    /// The status with which a server rejects this notification without looking up the token, or `nil` if it is valid.
    package var validationError: BinaryStatus? {
        Self.error(tokenLength: self.notification.token.count)
            ?? Self.error(payloadLength: self.notification.payload.readableBytes, command: self.command)
    }

    fileprivate static func error(tokenLength length: Int) -> BinaryStatus? {
        if length == 0 { return .missingDeviceToken }
        return Self.tokenLengths.contains(length) ? nil : .invalidTokenSize
    }

    fileprivate static func error(payloadLength length: Int, command: BinaryCommand) -> BinaryStatus? {
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

/// The item identifiers of command 2 (APNs reference 5.1).
private enum BinaryItem: UInt8 {
    case token = 1
    case payload, identifier, expiration, priority
}

extension BinaryFrame {
    /// Consumes one frame from the front of `buffer`. Returns `nil` while the frame is incomplete.
    ///
    /// A frame that is too long is rejected as soon as its length is known, so that a caller never buffers more than
    /// ``maximumFrameLength`` and the header. After an error, the connection must be closed, because the start of the
    /// next frame is unknown.
    /// - Parameters:
    ///   - isLenient: Pass `true` to allow payloads as long as those of command 2 in commands 0 and 1, on which some
    ///     clients rely.
    ///   - allowsAnyPriority: Pass `true` to treat a priority other than 5 and 10 as absent instead of rejecting it.
    /// - Throws: The error packet that the server has to send (APNs reference 5.2).
    package static func read(
        from buffer: inout ByteBuffer,
        isLenient: Bool = false,
        allowsAnyPriority: Bool = false
    ) throws(BinaryErrorResponse) -> BinaryFrame? {
        var rest = buffer
        guard let byte = rest.readInteger(as: UInt8.self) else { return nil }
        guard let command = BinaryCommand(rawValue: byte) else { throw BinaryErrorResponse(status: .protocolError) }
        let notification: BinaryNotification? =
            switch command {
            case .simple: try Self.readTokenAndPayload(isLenient ? .framed : command, from: &rest)
            case .enhanced: try Self.readEnhanced(isLenient ? .framed : command, from: &rest)
            case .framed: try Self.readItems(from: &rest, allowsAnyPriority)
            }
        guard let notification else { return nil }
        buffer = rest
        return BinaryFrame(command: command, notification: notification)
    }

    /// Reads the rest of a frame of command 1. Returns `nil` if it is incomplete.
    /// - Parameter limit: The command whose maximum payload length applies.
    private static func readEnhanced(
        _ limit: BinaryCommand,
        from buffer: inout ByteBuffer
    ) throws(BinaryErrorResponse) -> BinaryNotification? {
        guard let (identifier, expiration) = buffer.readMultipleIntegers(as: (UInt32, UInt32).self) else { return nil }
        guard var notification = try Self.readTokenAndPayload(limit, identifier: identifier, from: &buffer) else {
            return nil
        }
        notification.expiration = expiration
        return notification
    }

    private static func readTokenAndPayload(
        _ limit: BinaryCommand,
        identifier: UInt32 = 0,
        from buffer: inout ByteBuffer
    ) throws(BinaryErrorResponse) -> BinaryNotification? {
        guard let tokenLength = buffer.readInteger(as: UInt16.self).map(Int.init) else { return nil }
        if let status = Self.error(tokenLength: tokenLength) {
            throw BinaryErrorResponse(status: status, identifier: identifier)
        }
        guard let token = buffer.readBytes(length: tokenLength),
            let payloadLength = buffer.readInteger(as: UInt16.self).map(Int.init)
        else { return nil }
        if let status = Self.error(payloadLength: payloadLength, command: limit) {
            throw BinaryErrorResponse(status: status, identifier: identifier)
        }
        guard let payload = buffer.readSlice(length: payloadLength) else { return nil }
        return BinaryNotification(token: token, payload: payload, identifier: identifier)
    }

    /// Returns the error packet for a frame that is incomplete at the end of the connection. It names the notification
    /// if the identifier has arrived. Returns `nil` for command 0, for which there is no error packet (APNs reference
    /// 5.3.3), and for an empty buffer.
    package static func unfinished(_ buffer: ByteBuffer) -> BinaryErrorResponse? {
        var rest = buffer
        switch rest.readInteger(as: UInt8.self).flatMap(BinaryCommand.init(rawValue:)) {
        case nil, .simple: return nil
        case .enhanced:
            return BinaryErrorResponse(status: .protocolError, identifier: rest.readInteger(as: UInt32.self) ?? 0)
        case .framed: return BinaryErrorResponse(status: .protocolError)
        }
    }

    private static func readItems(
        from buffer: inout ByteBuffer,
        _ allowsAnyPriority: Bool
    ) throws(BinaryErrorResponse) -> BinaryNotification? {
        guard let length = buffer.readInteger(as: UInt32.self) else { return nil }
        guard length <= UInt32(Self.maximumFrameLength) else { throw BinaryErrorResponse(status: .protocolError) }
        guard var frame = buffer.readSlice(length: Int(length)) else { return nil }
        var items = BinaryItemReader()
        while frame.readableBytes > 0 { try items.readItem(from: &frame) }
        return try items.notification(allowsAnyPriority: allowsAnyPriority)
    }
}

/// Collects the items in a frame of command 2. Unknown items are ignored (APNs reference 5.1).
private struct BinaryItemReader {
    private var token: ByteBuffer?
    private var payload: ByteBuffer?
    private var identifier: ByteBuffer?
    private var expiration: ByteBuffer?
    private var priority: ByteBuffer?

    /// Consumes the next item.
    /// - Throws: The error packet for an item that extends beyond the frame, or for a repeated item.
    mutating func readItem(from frame: inout ByteBuffer) throws(BinaryErrorResponse) {
        guard let id = frame.readInteger(as: UInt8.self),
            let value = frame.readLengthPrefixedSlice(as: UInt16.self)
        else { throw self.error(.protocolError) }
        switch BinaryItem(rawValue: id) {
        case .token: try self.set(\.token, value)
        case .payload: try self.set(\.payload, value)
        case .identifier: try self.set(\.identifier, value)
        case .expiration: try self.set(\.expiration, value)
        case .priority: try self.set(\.priority, value)
        case nil: break
        }
    }

    /// Returns the notification that the items form.
    /// - Throws: The error packet for a missing item, a wrong size or an unknown priority.
    func notification(allowsAnyPriority: Bool) throws(BinaryErrorResponse) -> BinaryNotification {
        if self.identifier != nil, Self.integer(self.identifier) == nil { throw self.error(.protocolError) }
        if let status = BinaryFrame.error(tokenLength: self.token?.readableBytes ?? 0)
            ?? BinaryFrame.error(payloadLength: self.payload?.readableBytes ?? 0, command: .framed)
        {
            throw self.error(status)
        }
        var notification = BinaryNotification(
            token: self.token.map { Array($0.readableBytesView) } ?? [],
            payload: self.payload ?? ByteBuffer(),
            identifier: Self.integer(self.identifier) ?? 0
        )
        if let expiration = self.expiration {
            guard let seconds = Self.integer(expiration) else { throw self.error(.protocolError) }
            notification.expiration = seconds
        }
        if let priority = self.priority {
            guard priority.readableBytes == 1 else { throw self.error(.protocolError) }
            let value = priority.getInteger(at: priority.readerIndex, as: UInt8.self).flatMap(Priority.init)
            notification.priority = value == .low ? nil : value
            guard notification.priority != nil || allowsAnyPriority else { throw self.error(.protocolError) }
        }
        return notification
    }

    private mutating func set(
        _ item: WritableKeyPath<Self, ByteBuffer?>,
        _ value: ByteBuffer
    ) throws(BinaryErrorResponse) {
        guard self[keyPath: item] == nil else { throw self.error(.protocolError) }
        self[keyPath: item] = value
    }

    private func error(_ status: BinaryStatus) -> BinaryErrorResponse {
        BinaryErrorResponse(status: status, identifier: Self.integer(self.identifier) ?? 0)
    }

    private static func integer(_ value: ByteBuffer?) -> UInt32? {
        guard let value, value.readableBytes == 4 else { return nil }
        return value.getInteger(at: value.readerIndex)
    }
}

/// A notification with the fields of the binary protocol (APNs reference 5). Its topic is in the client's certificate.
package struct BinaryNotification: Hashable, Sendable {
    package var token: [UInt8]
    package var payload: ByteBuffer
    /// The identifier by which an error packet names the notification, or 0 if it has none.
    package var identifier: UInt32
    /// The expiration in UNIX seconds. It is 0 for a notification that is not stored, and `nil` if the field is absent.
    package var expiration: UInt32?
    /// The priority, which is ``Priority/immediate`` or ``Priority/powerAware``. It is `nil` if the field is absent,
    /// which means immediate.
    package var priority: Priority?

    package init(
        token: [UInt8],
        payload: ByteBuffer,
        identifier: UInt32 = 0,
        expiration: UInt32? = nil,
        priority: Priority? = nil
    ) {
        (self.token, self.payload, self.identifier) = (token, payload, identifier)
        (self.expiration, self.priority) = (expiration, priority)
    }

    /// Converts a push notification to one of the binary protocol. The binary protocol has no fields for its collapse
    /// id, push type and topic. An expiration after 2106 becomes the last representable second. Priority 1, which is
    /// not supported, becomes 5.
    package init(_ notification: PushNotification, to token: DeviceToken) {
        self.init(token: token.bytes, payload: notification.payload)
        switch notification.expiration {
        case .servicePolicy: self.expiration = nil
        case .immediate: self.expiration = 0
        case .at(let seconds): self.expiration = UInt32(clamping: seconds)
        }
        self.priority = notification.priority == .immediate ? .immediate : .powerAware
    }

    /// The field ``expiration`` as the expiration of a push.
    package var pushExpiration: Expiration {
        switch self.expiration {
        case nil: .servicePolicy
        case 0: .immediate
        case let seconds?: .at(seconds: Int64(seconds))
        }
    }
}
