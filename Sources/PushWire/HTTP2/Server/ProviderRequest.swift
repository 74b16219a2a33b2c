package import NIOCore
package import PushTypes

/// A complete request to the provider API, with only the data that the API uses.
package struct ProviderRequest: Hashable, Sendable {
    /// The maximum number of body bytes that are stored. It is one more than the maximum payload, so that longer ones
    /// are detected.
    package static let maximumBody = 5121

    /// The header fields in APNs reference 1.5 and 4. Other fields are ignored (APNs reference 1.4).
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
        /// A Boolean value that indicates whether any of these fields occurred more than once.
        package var hasDuplicate = false

        package init() {}
    }

    package var method: String
    package var path: String
    package var fields = Fields()
    /// The body, at most ``maximumBody`` bytes.
    package var body: ByteBuffer
    /// The length of the received body in bytes, including bytes that were not stored.
    package var bodyLength = 0

    package init(method: String = "", path: String = "", body: ByteBuffer = ByteBuffer()) {
        (self.method, self.path, self.body) = (method, path, body)
    }
}

extension ProviderRequest {
    /// Adds a header field or pseudo-header. Duplicate pseudo-headers are detected by the decoder.
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

    /// Appends bytes to the body, up to ``maximumBody``.
    mutating func appendBody(_ data: borrowing Span<UInt8>) {
        self.bodyLength += data.count
        let kept = min(Self.maximumBody - self.body.readableBytes, data.count)
        guard kept > 0 else { return }
        // Most bodies arrive in one piece, so the memory is allocated in exactly their size.
        if self.body.readableBytes == 0 { self.body = ByteBufferAllocator().buffer(capacity: kept) }
        data.extracting(first: kept).withUnsafeBytes { _ = self.body.writeBytes($0) }
    }
}

/// The response to a request to the provider API (APNs reference 1.8 and 4).
package struct ProviderResponse: Hashable, Sendable {
    package var status: Int
    /// The value of `apns-id`, which is `nil` except in responses to pushes to devices.
    package var apnsID: String?
    /// The value of `apns-request-id`, which is `nil` except in responses for broadcasts and channels.
    package var requestID: String?
    /// The value of `apns-unique-id`, which is `nil` except in responses to accepted pushes in sandbox.
    package var uniqueID: String?
    /// The value of `apns-channel-id`, which is `nil` except in responses for new channels.
    package var channelID: String?
    /// The value of `retry-after` in seconds, or `nil` unless the gateway is set to send it (APNs reference 11, row 4).
    package var retryAfter: Int?
    /// The JSON body, sent in one DATA frame, or `nil` for a response without a body (APNs reference 7.10 row 4).
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
    /// Returns the response to an accepted push. `uniqueID` is `nil` in production.
    package static func accepted(apnsID: String, uniqueID: String? = nil) -> Self {
        Self(status: 200, apnsID: apnsID, uniqueID: uniqueID)
    }

    /// Returns the response to a rejected device push.
    /// - Parameter timestamp: The time at which the token became invalid, or `nil` unless the status is 410.
    package static func rejected(_ reason: Reason, apnsID: String, timestamp: Timestamp? = nil) -> Self {
        Self(status: reason.status, apnsID: apnsID, body: Self.body(reason, timestamp))
    }

    /// Returns the response to a rejected request for a broadcast or a channel.
    package static func rejected(_ reason: Reason, requestID: String) -> Self {
        Self(status: reason.status, requestID: requestID, body: Self.body(reason, nil))
    }

    /// Returns the JSON body of a rejection. It requires no escaping, because reasons contain no special characters.
    private static func body(_ reason: Reason, _ timestamp: Timestamp?) -> String {
        let time = timestamp.map { #","timestamp":\#($0.milliseconds)"# } ?? ""
        return #"{"reason":"\#(reason.text)"\#(time)}"#
    }
}
