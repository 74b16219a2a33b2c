package import NIOCore
package import PushTypes

/// One line of the feedback service's list: an app that is gone from a device (reference 6).
package struct FeedbackTuple: Hashable, Sendable {
    /// Bytes of time and token length.
    package static let headerLength = 6

    /// UNIX seconds: when the service decided that the app is gone. A token registered again after it is good.
    package var seconds: UInt32
    package var token: DeviceToken

    package init(seconds: UInt32, token: DeviceToken) {
        self.seconds = seconds
        self.token = token
    }

    /// Bytes on the wire.
    package var length: Int { Self.headerLength + self.token.bytes.count }

    package var time: Timestamp { Timestamp(seconds: Int64(self.seconds)) }

    /// A token length of 0, or beyond ``DeviceToken/maximumLength``: these bytes are no list.
    package struct Malformed: Error, Hashable, Sendable {
        package var tokenLength: Int

        package init(tokenLength: Int) {
            self.tokenLength = tokenLength
        }
    }

    /// Takes one tuple off the front of `buffer`; `nil` until all its bytes are there.
    package static func read(from buffer: inout ByteBuffer) throws(Malformed) -> FeedbackTuple? {
        guard let seconds = buffer.getInteger(at: buffer.readerIndex, as: UInt32.self),
            let length = buffer.getInteger(at: buffer.readerIndex + 4, as: UInt16.self).map(Int.init)
        else { return nil }
        guard (1...DeviceToken.maximumLength).contains(length) else { throw Malformed(tokenLength: length) }
        guard let bytes = buffer.getBytes(at: buffer.readerIndex + Self.headerLength, length: length) else {
            return nil
        }
        guard let token = DeviceToken(bytes: bytes) else { throw Malformed(tokenLength: length) }
        buffer.moveReaderIndex(forwardBy: Self.headerLength + length)
        return FeedbackTuple(seconds: seconds, token: token)
    }

    /// Appends the tuple's bytes.
    package func write(to buffer: inout ByteBuffer) {
        buffer.writeInteger(self.seconds)
        buffer.writeInteger(UInt16(clamping: self.token.bytes.count))
        buffer.writeBytes(self.token.bytes)
    }
}
