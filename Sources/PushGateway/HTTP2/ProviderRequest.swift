import NIOCore
import NIOHPACK

/// A request of the provider API while its frames come in. Keeps no more of the body than a push can have.
struct ProviderRequest: Sendable {
    /// Body bytes kept: one more than the largest payload, so that "too large" can be told.
    static let maximumBody = 5121

    private(set) var headers: HPACKHeaders?
    private(set) var body = ByteBuffer()
    /// Body bytes received, also those not kept.
    private(set) var bodyLength = 0

    var method: String { self.headers?.first(name: ":method") ?? "" }
    var path: String { self.headers?.first(name: ":path") ?? "" }

    /// Trailers, a second header block, say nothing that a push needs.
    mutating func received(_ headers: HPACKHeaders) {
        if self.headers == nil { self.headers = headers }
    }

    mutating func received(_ data: ByteBuffer) {
        self.bodyLength += data.readableBytes
        let room = Self.maximumBody - self.body.readableBytes
        var data = data
        if let kept = data.readSlice(length: min(room, data.readableBytes)), kept.readableBytes > 0 {
            self.body.writeImmutableBuffer(kept)
        }
    }

    func values(_ name: String) -> [String] { self.headers?[name] ?? [] }
    func value(_ name: String) -> String? { self.headers?.first(name: name) }
}
