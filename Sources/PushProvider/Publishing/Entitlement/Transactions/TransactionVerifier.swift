import Crypto
import PushSupport
import PushTypes

/// Verifies transactions of the App Store offline.
struct TransactionVerifier: Sendable {
    /// The maximum time by which a transaction's signing time may be ahead of the provider's clock to be accepted.
    static let clockSkew: Duration = .seconds(300)

    private let chain: AppStoreChain?

    /// Creates a verifier with root certificates. Without them (`nil`), it refuses every transaction.
    init(_ roots: AppStoreRoots?) { self.chain = roots.map(AppStoreChain.init) }

    /// A Boolean value that indicates whether root certificates are configured, so that transactions can be verified.
    var hasRoots: Bool { self.chain != nil }

    /// Verifies the certificates, the signature, the app and the form of a transaction, and returns its contents.
    /// - Parameter wrong: The budget of wrong secrets, in which forged certificates are charged to the client.
    /// - Throws: ``TransactionFault`` if the transaction is not accepted as proof.
    func verify(
        _ text: String,
        app: Topic,
        now: Timestamp,
        wrong: Budget,
        of client: BudgetCaller
    ) async throws(TransactionFault) -> StoreTransaction {
        guard let chain else { throw .noRoot }
        let signed = try CompactJWS(text)
        let time = try StoreTransaction.signingTime(signed.payload)
        guard time <= now.advanced(by: Self.clockSkew) else { throw .signedInFuture }
        let key = try await chain.key(of: signed.certificates, at: time, wrong: wrong, of: client)
        guard let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signed.signature),
            key.isValidSignature(signature, for: signed.signedBytes)
        else { throw .badSignature }
        return try StoreTransaction(signed.payload, app: app)
    }
}

/// The reason why a transaction is not accepted as proof.
enum TransactionFault: Error, Hashable, Sendable {
    /// The lack of a configured root certificate.
    case noRoot
    case tooLong
    /// A text that is not a transaction from the App Store. The associated value completes a sentence about the text.
    case malformed(String)
    /// Certificates that do not lead to a configured root. The associated value names the fault.
    case untrusted(String)
    /// A signature that does not match the text.
    case badSignature
    case otherApp
    case otherEnvironment
    /// A signing time in the future.
    case signedInFuture
    /// Certificates that were not checked, because the client has sent too many forged ones.
    case unchecked(BudgetRefusal)

    /// The stable code that an API response gives for the reason, such as `wrong_app`.
    var code: String {
        switch self {
        case .noRoot: "no_app_store_root"
        case .otherApp: "wrong_app"
        case .unchecked(let refusal): refusal.resource.row.code
        default: "invalid_transaction"
        }
    }

    /// The reason as text, which completes a sentence about the transaction.
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
