import PushSupport

/// The reason for which a transaction proves nothing.
enum TransactionFault: Error, Hashable, Sendable {
    /// No root certificate is configured.
    case noRoot
    case tooLong
    /// It is not a signed text of the App Store. The associated value says what is wrong, as the end of a sentence.
    case malformed(String)
    /// Its certificates do not lead to a configured root.
    case untrusted(String)
    /// The signature is not that of its text.
    case badSignature
    case otherApp
    case otherEnvironment
    /// It claims to be signed after the present.
    case signedInFuture
    /// Its client has sent too many certificates that were made up, so that these were not checked now.
    case unchecked(BudgetRefusal)

    /// The stable name of the reason in responses.
    var code: String {
        switch self {
        case .noRoot: "no_app_store_root"
        case .otherApp: "wrong_app"
        case .unchecked(let refusal): refusal.resource.row.code
        default: "invalid_transaction"
        }
    }

    /// The reason as the end of a sentence about the transaction.
    var message: String {
        switch self {
        case .noRoot:
            "transactions cannot be checked: the provider needs Apple's root certificate, setting serve.publishing.appStoreRoot"
        case .tooLong: "it has more than \(CompactJWS.maximumLength) bytes"
        case .malformed(let fault): fault
        case .untrusted(let fault): fault
        case .badSignature: "its signature is not that of its text"
        case .otherApp: "it is for another app"
        case .otherEnvironment: "its environment is neither Production nor Sandbox"
        case .signedInFuture: "it claims to be signed in the future"
        case .unchecked(let refusal): refusal.error.error.message
        }
    }
}
