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
