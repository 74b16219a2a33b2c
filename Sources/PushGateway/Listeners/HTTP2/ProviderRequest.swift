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
    /// Takes a header field, pseudo-headers too; one that means nothing here is ignored (reference 1.4). A repeated
    /// pseudo-header is the decoder's affair.
    mutating func add(_ name: RequestField.Name, _ value: String) {
        let isRepeated: Bool
        switch name {
        case .authorization: isRepeated = Self.fill(&self.fields.authorization, value)
        case .pushType: isRepeated = Self.fill(&self.fields.pushType, value)
        case .topic: isRepeated = Self.fill(&self.fields.topic, value)
        case .id: isRepeated = Self.fill(&self.fields.id, value)
        case .expiration: isRepeated = Self.fill(&self.fields.expiration, value)
        case .priority: isRepeated = Self.fill(&self.fields.priority, value)
        case .collapseID: isRepeated = Self.fill(&self.fields.collapseID, value)
        case .channelID: isRepeated = Self.fill(&self.fields.channelID, value)
        case .requestID: isRepeated = Self.fill(&self.fields.requestID, value)
        case .method: return self.method = value
        case .path: return self.path = value
        case .scheme, .authority, .contentLength, .te, .other, .malformed: return
        }
        if isRepeated { self.fields.hasDuplicate = true }
    }

    /// Whether the field was there already.
    private static func fill(_ field: inout String?, _ value: String) -> Bool {
        defer { field = value }
        return field != nil
    }

    /// Takes a piece of the body; keeps no more of it than a push can have.
    mutating func receive(_ data: borrowing Span<UInt8>) {
        self.bodyLength += data.count
        let kept = min(Self.maximumBody - self.body.readableBytes, data.count)
        guard kept > 0 else { return }
        // Most bodies come in one piece: memory of just their size.
        if self.body.readableBytes == 0 { self.body = ByteBufferAllocator().buffer(capacity: kept) }
        data.extracting(first: kept).withUnsafeBytes { _ = self.body.writeBytes($0) }
    }
}
