import NIOCore

@testable import PushWire

extension ProviderRequest {
    /// Adds a header field by its name on the wire.
    mutating func add(name: String, value: String) {
        self.add(Array(name.utf8).withUnsafeBufferPointer(RequestField.Name.init), value)
    }

    mutating func appendBody(_ data: ByteBuffer) {
        self.appendBody(data.readableBytesUInt8Span)
    }
}
