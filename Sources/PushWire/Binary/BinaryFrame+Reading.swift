package import NIOCore
import PushTypes

extension BinaryFrame {
    /// Takes one frame off the front of `buffer`; `nil` until all its bytes are there.
    ///
    /// What is too long is refused as soon as its length is known, so never more than ``maximumFrameLength`` and the
    /// header need to be kept. After an error the connection is over: where the next frame starts is not known.
    /// - Parameter isLenient: commands 0 and 1 may carry as much as command 2, which clients exist that rely on.
    /// - Throws: the packet with which a service answers (reference 5.2).
    package static func read(
        from buffer: inout ByteBuffer,
        isLenient: Bool = false
    ) throws(BinaryErrorResponse) -> BinaryFrame? {
        var rest = buffer
        guard let byte = rest.readInteger(as: UInt8.self) else { return nil }
        guard let command = BinaryCommand(rawValue: byte) else { throw BinaryErrorResponse(status: .protocolError) }
        let notification: BinaryNotification? =
            switch command {
            case .simple: try Self.readTokenAndPayload(isLenient ? .framed : command, from: &rest)
            case .enhanced: try Self.readEnhanced(isLenient ? .framed : command, from: &rest)
            case .framed: try Self.readItems(from: &rest)
            }
        guard let notification else { return nil }
        buffer = rest
        return BinaryFrame(command: command, notification: notification)
    }

    /// - Parameter limit: the command whose longest payload counts.
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
        if let status = Self.fault(token: tokenLength) {
            throw BinaryErrorResponse(status: status, identifier: identifier)
        }
        guard let token = buffer.readBytes(length: tokenLength),
            let payloadLength = buffer.readInteger(as: UInt16.self).map(Int.init)
        else { return nil }
        if let status = Self.fault(payload: payloadLength, command: limit) {
            throw BinaryErrorResponse(status: status, identifier: identifier)
        }
        guard let payload = buffer.readSlice(length: payloadLength) else { return nil }
        return BinaryNotification(token: token, payload: payload, identifier: identifier)
    }

    /// The packet for a frame of which no more comes: it names the notification if its identifier has come. `nil` where
    /// there is none to answer: command 0 (reference 5.3.3), and no byte at all.
    package static func unfinished(_ buffer: ByteBuffer) -> BinaryErrorResponse? {
        var rest = buffer
        switch rest.readInteger(as: UInt8.self).flatMap(BinaryCommand.init(rawValue:)) {
        case nil, .simple: return nil
        case .enhanced:
            return BinaryErrorResponse(status: .protocolError, identifier: rest.readInteger(as: UInt32.self) ?? 0)
        case .framed: return BinaryErrorResponse(status: .protocolError)
        }
    }

    private static func readItems(from buffer: inout ByteBuffer) throws(BinaryErrorResponse) -> BinaryNotification? {
        guard let length = buffer.readInteger(as: UInt32.self) else { return nil }
        guard length <= UInt32(Self.maximumFrameLength) else { throw BinaryErrorResponse(status: .protocolError) }
        guard var frame = buffer.readSlice(length: Int(length)) else { return nil }
        var items = BinaryItemReader()
        while frame.readableBytes > 0 { try items.readItem(from: &frame) }
        return try items.notification()
    }
}

/// The items of one frame of command 2 while they are collected. Unknown items are passed over (reference 5.1).
private struct BinaryItemReader {
    private var token: ByteBuffer?
    private var payload: ByteBuffer?
    private var identifier: ByteBuffer?
    private var expiration: ByteBuffer?
    private var priority: ByteBuffer?

    /// Refuses an item that reaches past the frame, and one that comes twice.
    mutating func readItem(from frame: inout ByteBuffer) throws(BinaryErrorResponse) {
        guard let id = frame.readInteger(as: UInt8.self),
            let value = frame.readLengthPrefixedSlice(as: UInt16.self)
        else { throw self.refusal(.protocolError) }
        switch BinaryItem(rawValue: id) {
        case .token: try self.set(\.token, value)
        case .payload: try self.set(\.payload, value)
        case .identifier: try self.set(\.identifier, value)
        case .expiration: try self.set(\.expiration, value)
        case .priority: try self.set(\.priority, value)
        case nil: break
        }
    }

    /// Refuses what is missing, of the wrong size, or no priority of this interface.
    func notification() throws(BinaryErrorResponse) -> BinaryNotification {
        if self.identifier != nil, Self.integer(self.identifier) == nil { throw self.refusal(.protocolError) }
        if let status = BinaryFrame.fault(token: self.token?.readableBytes ?? 0)
            ?? BinaryFrame.fault(payload: self.payload?.readableBytes ?? 0, command: .framed)
        {
            throw self.refusal(status)
        }
        var notification = BinaryNotification(
            token: self.token.map { Array($0.readableBytesView) } ?? [],
            payload: self.payload ?? ByteBuffer(),
            identifier: Self.integer(self.identifier) ?? 0
        )
        if let expiration = self.expiration {
            guard let seconds = Self.integer(expiration) else { throw self.refusal(.protocolError) }
            notification.expiration = seconds
        }
        if let priority = self.priority {
            guard priority.readableBytes == 1,
                let value = priority.getInteger(at: priority.readerIndex, as: UInt8.self).flatMap(Priority.init),
                value != .low
            else { throw self.refusal(.protocolError) }
            notification.priority = value
        }
        return notification
    }

    private mutating func set(
        _ item: WritableKeyPath<Self, ByteBuffer?>,
        _ value: ByteBuffer
    ) throws(BinaryErrorResponse) {
        guard self[keyPath: item] == nil else { throw self.refusal(.protocolError) }
        self[keyPath: item] = value
    }

    private func refusal(_ status: BinaryStatus) -> BinaryErrorResponse {
        BinaryErrorResponse(status: status, identifier: Self.integer(self.identifier) ?? 0)
    }

    private static func integer(_ value: ByteBuffer?) -> UInt32? {
        guard let value, value.readableBytes == 4 else { return nil }
        return value.getInteger(at: value.readerIndex)
    }
}
