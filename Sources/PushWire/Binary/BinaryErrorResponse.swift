package import NIOCore

/// The error packet of 6 bytes, the only response on a legacy connection. The server closes the connection after it
/// (reference 5.1).
package struct BinaryErrorResponse: Error, Hashable, Sendable {
    /// The first byte of each packet.
    package static let command: UInt8 = 8
    /// The length in bytes.
    package static let length = 6

    package var status: BinaryStatus
    /// The identifier of the notification at fault; 0 if the server knows none.
    package var identifier: UInt32

    package init(status: BinaryStatus, identifier: UInt32 = 0) {
        (self.status, self.identifier) = (status, identifier)
    }

    /// The error for bytes of the server that are not an error packet.
    package struct Malformed: Error, Hashable, Sendable {
        package let command: UInt8

        package init(command: UInt8) {
            self.command = command
        }
    }

    /// Reads one packet from the front of `buffer`. Returns `nil` until all its bytes are there.
    package static func read(from buffer: inout ByteBuffer) throws(Malformed) -> BinaryErrorResponse? {
        guard let command = buffer.getInteger(at: buffer.readerIndex, as: UInt8.self) else { return nil }
        guard command == Self.command else { throw Malformed(command: command) }
        guard let (_, status, identifier) = buffer.readMultipleIntegers(as: (UInt8, UInt8, UInt32).self) else {
            return nil
        }
        return BinaryErrorResponse(status: BinaryStatus(rawValue: status), identifier: identifier)
    }

    /// The bytes of the packet.
    package var encoded: ByteBuffer {
        var buffer = ByteBuffer()
        buffer.writeMultipleIntegers(Self.command, self.status.rawValue, self.identifier)
        return buffer
    }
}
