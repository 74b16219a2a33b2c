import NIOCore

/// A complete request of the provider API, as far as it means something there.
struct ProviderRequest: Hashable, Sendable {
    /// Body bytes kept: one more than the largest payload, so that "too large" can be told.
    static let maximumBody = 5121

    /// The header fields of reference 1.5 and 4; all others are ignored (reference 1.4).
    struct Fields: Hashable, Sendable {
        var authorization: String?
        var pushType: String?
        var topic: String?
        var id: String?
        var expiration: String?
        var priority: String?
        var collapseID: String?
        var channelID: String?
        var requestID: String?
        /// One of the above came twice.
        var hasDuplicate = false
    }

    var method = ""
    var path = ""
    var fields = Fields()
    /// At most ``maximumBody`` bytes.
    var body = ByteBuffer()
    /// Body bytes received, also those not kept.
    var bodyLength = 0
}

extension ProviderRequest {
    /// Takes a header field; pseudo-headers too. A repeated pseudo-header is the transport's affair.
    mutating func add(name: String, value: String) {
        switch name {
        case ":method": self.method = value
        case ":path": self.path = value
        case "authorization": self.set(\.authorization, value)
        case "apns-push-type": self.set(\.pushType, value)
        case "apns-topic": self.set(\.topic, value)
        case "apns-id": self.set(\.id, value)
        case "apns-expiration": self.set(\.expiration, value)
        case "apns-priority": self.set(\.priority, value)
        case "apns-collapse-id": self.set(\.collapseID, value)
        case "apns-channel-id": self.set(\.channelID, value)
        case "apns-request-id": self.set(\.requestID, value)
        default: break
        }
    }

    private mutating func set(_ field: WritableKeyPath<Fields, String?>, _ value: String) {
        if self.fields[keyPath: field] != nil { self.fields.hasDuplicate = true }
        self.fields[keyPath: field] = value
    }

    /// Takes a piece of the body; keeps no more of it than a push can have.
    mutating func receive(_ data: ByteBuffer) {
        self.bodyLength += data.readableBytes
        let room = Self.maximumBody - self.body.readableBytes
        var data = data
        if let kept = data.readSlice(length: min(room, data.readableBytes)), kept.readableBytes > 0 {
            self.body.writeImmutableBuffer(kept)
        }
    }
}
