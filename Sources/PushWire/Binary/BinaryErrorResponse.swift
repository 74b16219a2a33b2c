package import NIOCore

/// The only thing the service ever says on a legacy connection, 6 bytes; it closes right after (reference 5.1).
package struct BinaryErrorResponse: Error, Hashable, Sendable {
    package static let command: UInt8 = 8
    /// In bytes.
    package static let length = 6

    package var status: BinaryStatus
    /// Of the notification the status is about; 0 where the service knows of none.
    package var identifier: UInt32

    package init(status: BinaryStatus, identifier: UInt32 = 0) {
        self.status = status
        self.identifier = identifier
    }

    /// Bytes from a service that are no error packet.
    package struct Malformed: Error, Hashable, Sendable {
        package var command: UInt8

        package init(command: UInt8) {
            self.command = command
        }
    }

    /// Takes one packet off the front of `buffer`; `nil` until all its bytes are there.
    package static func read(from buffer: inout ByteBuffer) throws(Malformed) -> BinaryErrorResponse? {
        guard let command = buffer.getInteger(at: buffer.readerIndex, as: UInt8.self) else { return nil }
        guard command == Self.command else { throw Malformed(command: command) }
        guard let (_, status, identifier) = buffer.readMultipleIntegers(as: (UInt8, UInt8, UInt32).self) else {
            return nil
        }
        return BinaryErrorResponse(status: BinaryStatus(rawValue: status), identifier: identifier)
    }

    package var encoded: ByteBuffer {
        var buffer = ByteBuffer()
        buffer.writeMultipleIntegers(Self.command, self.status.rawValue, self.identifier)
        return buffer
    }
}
