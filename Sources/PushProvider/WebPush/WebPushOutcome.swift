import Foundation
import PushSender
import PushSupport
import PushTypes

/// The response of a browser's push service to a message, as the outcome of a push.
///
/// None of the outcomes is a configuration fault, because such faults concern environments of Apple's push service.
struct WebPushOutcome: Hashable, Sendable {
    /// The maximum length of a response body that is read, in bytes. A longer one is ignored.
    static let maximumBody = 4096
    /// The reasons that are copied to the ledger, as Apple documents them. Other text could come from any server.
    private static let reasons: Set<String> = [
        "BadTtl", "BadUrgency", "BadWebPushRequest", "BadWebPushTopic", "VapidPkHashMismatch", "IdleTimeout",
        "BadAuthorizationHeader", "BadJwtToken", "BadVapidPublicKey", "BadPath", "MethodNotAllowed", "PayloadTooLarge",
        "TooManyRequests", "InternalServerError", "ServiceUnavailable", "Shutdown",
    ]

    let status: Int
    let retryAfter: Duration?
    let body: [UInt8]

    /// Returns the outcome for the response.
    /// - Parameter id: The id of the message at the push service, or the provider's own id.
    func outcome(id: String) -> Outcome {
        switch self.status {
        case 200..<300: .accepted(Outcome.Accepted(id: id))
        // RFC 8030 section 7.3 requires 404; Apple, Mozilla and others respond with 410.
        case 404, 410: .rejected(Rejection(status: 410, reasonText: Reason.unregistered.rawValue))
        case 408, 429, 500...:
            .rejected(Rejection(status: max(429, self.status), reasonText: self.text, retryAfter: self.retryAfter))
        // Another attempt would be rejected in the same way.
        default: .rejected(Rejection(status: 400, reasonText: self.text))
        }
    }

    /// The status with the reason in the push service's response, such as `403 VapidPkHashMismatch`.
    var text: String {
        guard let json = try? JSONValue(parsing: Data(self.body)) else { return "HTTP status \(self.status)" }
        if let reason = json["reason"].stringValue, Self.reasons.contains(reason) { return "\(self.status) \(reason)" }
        if let number = json["errno"].integerValue, (1...999).contains(number) {
            return "\(self.status) errno \(number)"
        }
        return "HTTP status \(self.status)"
    }
}
