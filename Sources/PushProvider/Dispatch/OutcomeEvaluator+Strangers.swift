import PushStore

extension OutcomeEvaluator {
    /// Indicates a token that is not registered, named by a request without a credential: anybody makes up as many as they like, so
    /// that their rejections prove nothing about the app's environment.
    func isOfStranger(_ recipient: Recipient) -> Bool {
        recipient.device == nil && self.notification.record.key == nil
    }

    /// Indicates that this page has ended the only push of a stranger, to a token that the push service does not know.
    var isRefusedStranger: Bool {
        guard self.notification.record.key == nil, case .tokens(let tokens) = self.notification.record.audience,
            tokens.count == 1, self.result.retries.isEmpty, self.result.deliveries.count == 1,
            let delivery = self.result.deliveries.first
        else { return false }
        return delivery.device == nil && delivery.state == .rejected
    }
}
