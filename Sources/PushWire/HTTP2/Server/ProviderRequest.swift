package import NIOCore

/// A complete request to the provider API, as far as the API uses it.
package struct ProviderRequest: Hashable, Sendable {
    /// The body bytes that are kept: one more than the largest payload, so that a larger one is recognized.
    package static let maximumBody = 5121

    /// The header fields of reference 1.5 and 4. All others are ignored (reference 1.4).
    package struct Fields: Hashable, Sendable {
        package var authorization: String?
        package var pushType: String?
        package var topic: String?
        package var id: String?
        package var expiration: String?
        package var priority: String?
        package var collapseID: String?
        package var channelID: String?
        package var requestID: String?
        /// Indicates whether one of these fields came twice.
        package var hasDuplicate = false

        package init() {}
    }

    package var method: String
    package var path: String
    package var fields = Fields()
    /// The body, at most ``maximumBody`` bytes.
    package var body: ByteBuffer
    /// The length of the body in bytes, with the bytes that were not kept.
    package var bodyLength = 0

    package init(method: String = "", path: String = "", body: ByteBuffer = ByteBuffer()) {
        (self.method, self.path, self.body) = (method, path, body)
    }
}

extension ProviderRequest {
    /// Adds a header field or pseudo-header. The decoder recognizes pseudo-headers that come twice.
    mutating func add(_ name: RequestField.Name, _ value: String) {
        switch name {
        case .authorization: Self.set(&self.fields.authorization, value, &self.fields.hasDuplicate)
        case .pushType: Self.set(&self.fields.pushType, value, &self.fields.hasDuplicate)
        case .topic: Self.set(&self.fields.topic, value, &self.fields.hasDuplicate)
        case .id: Self.set(&self.fields.id, value, &self.fields.hasDuplicate)
        case .expiration: Self.set(&self.fields.expiration, value, &self.fields.hasDuplicate)
        case .priority: Self.set(&self.fields.priority, value, &self.fields.hasDuplicate)
        case .collapseID: Self.set(&self.fields.collapseID, value, &self.fields.hasDuplicate)
        case .channelID: Self.set(&self.fields.channelID, value, &self.fields.hasDuplicate)
        case .requestID: Self.set(&self.fields.requestID, value, &self.fields.hasDuplicate)
        case .method: self.method = value
        case .path: self.path = value
        case .scheme, .authority, .contentLength, .te, .other, .malformed: break
        }
    }

    private static func set(_ field: inout String?, _ value: String, _ hasDuplicate: inout Bool) {
        if field != nil { hasDuplicate = true }
        field = value
    }

    /// Appends to the body, up to ``maximumBody``.
    mutating func appendBody(_ data: borrowing Span<UInt8>) {
        self.bodyLength += data.count
        let kept = min(Self.maximumBody - self.body.readableBytes, data.count)
        guard kept > 0 else { return }
        // Most bodies come in one piece: memory of just their size.
        if self.body.readableBytes == 0 { self.body = ByteBufferAllocator().buffer(capacity: kept) }
        data.extracting(first: kept).withUnsafeBytes { _ = self.body.writeBytes($0) }
    }
}
