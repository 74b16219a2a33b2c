package import NIOCore
package import PushTypes

/// A complete request to the provider API, as far as the API uses it.
package struct ProviderRequest: Hashable, Sendable {
    /// The maximum number of body bytes that are kept: one more than the largest payload, so that a larger one is
    /// recognized.
    package static let maximumBody = 5121

    /// The header fields of reference 1.5 and 4. Others are ignored (reference 1.4).
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
        /// Indicates whether one of these fields occurred twice.
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
    /// Adds a header field or pseudo-header. The decoder recognizes pseudo-headers that occur twice.
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
        // Most bodies arrive in one piece: memory of just their size.
        if self.body.readableBytes == 0 { self.body = ByteBufferAllocator().buffer(capacity: kept) }
        data.extracting(first: kept).withUnsafeBytes { _ = self.body.writeBytes($0) }
    }
}

/// The response to a request to the provider API (reference 1.8 and 4).
package struct ProviderResponse: Hashable, Sendable {
    package var status: Int
    /// The header `apns-id`, in responses to device pushes.
    package var apnsID: String?
    /// The header `apns-request-id`, in responses to broadcast and channel requests.
    package var requestID: String?
    /// The header `apns-unique-id`, for accepted pushes of the sandbox.
    package var uniqueID: String?
    /// The header `apns-channel-id`, for a new channel.
    package var channelID: String?
    /// The header `retry-after` in seconds, if the gateway is configured to send it (reference 11, row 4).
    package var retryAfter: Int?
    /// The JSON body, in one DATA frame. It is `nil` for a response of one HEADERS frame (reference 7.10 row 4).
    package var body: String?

    package init(
        status: Int,
        apnsID: String? = nil,
        requestID: String? = nil,
        uniqueID: String? = nil,
        channelID: String? = nil,
        retryAfter: Int? = nil,
        body: String? = nil
    ) {
        (self.status, self.apnsID, self.requestID, self.uniqueID) = (status, apnsID, requestID, uniqueID)
        (self.channelID, self.retryAfter, self.body) = (channelID, retryAfter, body)
    }
}

extension ProviderResponse {
    /// Returns the response to an accepted push.
    package static func accepted(apnsID: String, uniqueID: String? = nil) -> Self {
        Self(status: 200, apnsID: apnsID, uniqueID: uniqueID)
    }

    /// Returns the response to a rejected device push.
    /// - Parameter timestamp: The time at which the token became invalid, with status 410 only.
    package static func rejected(_ reason: Reason, apnsID: String, timestamp: Timestamp? = nil) -> Self {
        Self(status: reason.status, apnsID: apnsID, body: Self.body(reason, timestamp))
    }

    /// Returns the response to a rejected broadcast or channel request.
    package static func rejected(_ reason: Reason, requestID: String) -> Self {
        Self(status: reason.status, requestID: requestID, body: Self.body(reason, nil))
    }

    /// Returns the JSON body. Reasons contain nothing to escape.
    private static func body(_ reason: Reason, _ timestamp: Timestamp?) -> String {
        let time = timestamp.map { #","timestamp":\#($0.milliseconds)"# } ?? ""
        return #"{"reason":"\#(reason.text)"\#(time)}"#
    }
}
