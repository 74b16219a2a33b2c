import ProviderModel
import PushStore
import PushTypes

extension PreparedNotification {
    /// Returns whether the push to a token is attempted in the other environment.
    ///
    /// A token that is bad in this environment may belong to the other one. One attempt is made there if the app has a
    /// credential for that environment (APNs reference 7.7).
    func triesElsewhere(_ recipient: Recipient, _ decision: DeliveryDecision) -> Bool {
        decision.token == .suspected && decision.reason == Reason.badDeviceToken.rawValue && recipient.movedFrom == nil
            && recipient.device != nil && self.record.environment == nil
            && self.senders[recipient.environment.other] != nil
            && self.pauses[recipient.environment.other] == nil
    }
}
