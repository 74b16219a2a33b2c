import NIOCore

@testable import PushGateway

extension ProviderRequest {
    /// Takes a header field by the name that it has on the wire.
    mutating func add(name: String, value: String) {
        self.add(Array(name.utf8).withUnsafeBufferPointer(RequestField.Name.init), value)
    }

    mutating func receive(_ data: ByteBuffer) {
        self.receive(data.readableBytesUInt8Span)
    }
}
