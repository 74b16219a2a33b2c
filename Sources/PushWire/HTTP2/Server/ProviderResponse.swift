package import PushTypes

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
