import Foundation
import PushTypes

/// The error response to a request of the provider API.
struct ProviderRejection: Error {
    var reason: Reason
    /// The token that is not registered any more, with 410.
    var token: UnregisteredToken?
    /// The gateway's own rule that rejects the request, for the log.
    var rule: String?
    /// The recipient of the push, with 429.
    var recipient: (device: UUID, topic: Topic)?

    init(_ reason: Reason) { self.reason = reason }

    init(tooManyFor device: UUID, topic: Topic, rule: String) {
        self.reason = .tooManyRequests
        self.rule = rule
        self.recipient = (device, topic)
    }

    init(unregistered token: UnregisteredToken) {
        self.reason = .unregistered
        self.token = token
    }
}
