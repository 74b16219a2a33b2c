import Crypto
import PushSupport
import PushTypes

/// Verifies transactions of the App Store offline.
struct TransactionVerifier: Sendable {
    /// The most that the clocks of the App Store and of the provider may differ.
    static let clockSkew: Duration = .seconds(300)

    private let chain: AppStoreChain?

    /// - Parameter roots: The root certificates; `nil` makes every transaction a fault.
    init(_ roots: AppStoreRoots?) { self.chain = roots.map(AppStoreChain.init) }

    /// `true` if transactions can be checked.
    var hasRoots: Bool { self.chain != nil }

    /// Verifies a transaction of an app: certificates, signature, app and form.
    ///
    /// - Parameter wrong: The budget of wrong secrets, from which certificates that are made up take on the account of the client.
    /// - Throws: ``TransactionFault``.
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
