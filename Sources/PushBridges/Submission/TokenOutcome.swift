import PushStore
import PushTypes

/// The outcome of one token, as other systems' clients are told.
enum TokenOutcome: Hashable, Sendable {
    /// The push service accepted the push.
    case accepted(apnsID: String)
    /// The push is in the ledger, and has no final state yet.
    case pending(apnsID: String)
    /// There was nothing to send, for example because the user does not want such notifications.
    case skipped(apnsID: String)
    /// The push service rejected it with a reason.
    case rejected(String)
    /// The push service found fault with the token, and the store still holds the token active: it may be the
    /// configuration's fault. No client may drop the token for it.
    case unconfirmed(String)
    /// It could not be sent in time, or its response was lost.
    case failed(String)

    /// The reasons for which clients drop a token.
    static let faultsOfTokens: Set<Reason> = [.badDeviceToken, .deviceTokenNotForTopic, .expiredToken, .unregistered]

    /// - Parameter delivery: The state of the recipient; `nil` while it has none.
    init(_ delivery: DeliveryRecord?, apnsID: String) {
        switch delivery?.state {
        case nil, .sending?: self = .pending(apnsID: apnsID)
        case .accepted?: self = .accepted(apnsID: apnsID)
        case .skipped?: self = .skipped(apnsID: apnsID)
        case .rejected?: self = .rejected(delivery?.reason ?? "")
        case .failed?, .unknown?: self = .failed(delivery?.reason ?? "")
        }
    }

    /// `true` if a client would drop the token.
    var accusesToken: Bool {
        guard case .rejected(let reason) = self else { return false }
        return Reason(rawValue: reason).map(Self.faultsOfTokens.contains) ?? false
    }

    /// The outcome of a token that the store still holds active.
    var unconfirmed: TokenOutcome { if case .rejected(let reason) = self { .unconfirmed(reason) } else { self } }
}
