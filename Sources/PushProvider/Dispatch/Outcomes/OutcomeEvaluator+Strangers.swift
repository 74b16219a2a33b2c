import PushStore
import PushTypes

extension OutcomeEvaluator {
    /// Indicates that a request without any credential asked for this push: homeservers of Matrix have none. The clients of all other
    /// bridges have a certificate, a secret or a session, whether or not they have an API key.
    private var isOfStranger: Bool { self.notification.record.acceptance.origin?.kind == .matrix }

    /// Indicates a token that is not registered, named by a request without a credential: anybody makes up as many as they like.
    func isOfStranger(_ recipient: Recipient) -> Bool { recipient.device == nil && self.isOfStranger }

    /// Decides whether the rejection of a token says something about other tokens.
    ///
    /// That of a made-up one does not, and neither does that of a browser's subscription.
    func isEvidence(_ recipient: Recipient, in environment: PushEnvironment) async -> Bool {
        if self.notification.isWeb { return false }
        guard self.isOfStranger(recipient) else { return true }
        let app = self.notification.record.app
        return await self.invalidation.hasReached(recipient.token, app: app, environment: environment)
    }

    /// Indicates that this page has ended the only push of a stranger, to a token that the push service does not know.
    var isRefusedStranger: Bool {
        guard self.isOfStranger, case .tokens(let tokens) = self.notification.record.audience,
            tokens.count == 1, self.result.retries.isEmpty, self.result.deliveries.count == 1,
            let delivery = self.result.deliveries.first
        else { return false }
        return delivery.device == nil && delivery.state == .rejected
    }
}
