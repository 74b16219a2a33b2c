package import NIOCore
package import PushTypes

extension FeedbackTuple {
    /// The length in bytes of the fields before the token: the time and the token's length.
    private static let headerLength = 6

    /// The error for a token length of 0 or above ``DeviceToken/maximumLength``, which no feedback list contains.
    package struct Malformed: Error, Hashable, Sendable {
        package let tokenLength: Int

        package init(tokenLength: Int) { self.tokenLength = tokenLength }
    }

    package var encodedLength: Int { Self.headerLength + self.token.bytes.count }

    /// Consumes one tuple from the front of `buffer`. Returns `nil` while the tuple is incomplete.
    /// - Throws: ``Malformed`` for an invalid token length.
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

    package func write(to buffer: inout ByteBuffer) {
        buffer.writeInteger(self.seconds)
        buffer.writeInteger(UInt16(clamping: self.token.bytes.count))
        buffer.writeBytes(self.token.bytes)
    }
}
