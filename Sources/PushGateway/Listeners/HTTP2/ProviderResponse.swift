import PushTypes

/// The answer to a request of the provider API (reference 1.8 and 4).
struct ProviderResponse: Hashable, Sendable {
    var status: Int
    /// `apns-id`: answers to device pushes.
    var apnsID: String?
    /// `apns-request-id`: answers to broadcast and channel requests.
    var requestID: String?
    /// `apns-unique-id`: accepted pushes of the sandbox.
    var uniqueID: String?
    /// `apns-channel-id`: a new channel.
    var channelID: String?
    /// `retry-after`, in seconds; only where the gateway is configured to send it (reference 12, row 4).
    var retryAfter: Int?
    /// JSON, in one DATA frame. `nil` for an answer that is one HEADERS frame (reference 7.10 row 4).
    var body: String?
}

extension ProviderResponse {
    /// A push was accepted.
    static func accepted(apnsID: String, uniqueID: String? = nil) -> Self {
        Self(status: 200, apnsID: apnsID, uniqueID: uniqueID)
    }

    /// A device push was refused. `timestamp` only with 410.
    static func refused(_ reason: Reason, apnsID: String, timestamp: Timestamp? = nil) -> Self {
        Self(status: reason.status, apnsID: apnsID, body: Self.body(reason, timestamp))
    }

    /// A broadcast or channel request was refused.
    static func refused(_ reason: Reason, requestID: String) -> Self {
        Self(status: reason.status, requestID: requestID, body: Self.body(reason, nil))
    }

    /// The reasons are words of ours: nothing to escape.
    private static func body(_ reason: Reason, _ timestamp: Timestamp?) -> String {
        let time = timestamp.map { #","timestamp":\#($0.milliseconds)"# } ?? ""
        return #"{"reason":"\#(reason.text)"\#(time)}"#
    }
}
