/// The whole response to one request.
package struct HTTP2Response: Hashable, Sendable {
    package var head: ResponseHead
    /// The body, at most ``HTTP2ClientLimits/maximumResponseBody`` bytes. It is empty with status 200 of a push.
    package var body: [UInt8] = []
}

/// The header fields of a push service's response (reference 1.8).
package struct ResponseHead: Hashable, Sendable {
    /// The status, or 0 if `:status` is missing or not a number.
    package var status = 0
    /// The header `apns-id`, or `apns-request-id`, which takes its place for broadcasts and channels.
    package var id: String?
    /// The header `apns-unique-id`, or `apns-channel-id` of a new channel: no response has both.
    package var uniqueID: String?
    /// The header `retry-after`, as text.
    package var retryAfter: String?
}
