package import NIOCore
import PushTypes

extension BinaryFrame {
    /// Reads one frame from the front of `buffer`. Returns `nil` until all its bytes are there.
    ///
    /// A frame that is too long is rejected as soon as its length is known, so a caller never keeps more than
    /// ``maximumFrameLength`` and the header. After an error the connection must end, because the start of the next
    /// frame is unknown.
    /// - Parameters:
    ///   - isLenient: Allows commands 0 and 1 as long a payload as command 2; some clients rely on it.
    ///   - allowsAnyPriority: Takes a priority without a meaning for an absent one.
    /// - Throws: The packet with which a server responds (reference 5.2).
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

    /// - Parameter limit: The command whose payload limit applies.
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

    /// Returns the error packet for a frame that ends too early. It names the notification if its identifier has
    /// arrived.
    ///
    /// Returns `nil` for command 0, which gets no packet (reference 5.3.3), and for an empty buffer.
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

/// Collects the items of one frame of command 2. Unknown items are ignored (reference 5.1).
private struct BinaryItemReader {
    private var token: ByteBuffer?
    private var payload: ByteBuffer?
    private var identifier: ByteBuffer?
    private var expiration: ByteBuffer?
    private var priority: ByteBuffer?

    /// Reads the next item. Throws for an item that extends past the frame, and for a repeated one.
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

    /// Returns the notification of all items. Throws for a missing item, a wrong size and an unknown priority.
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
