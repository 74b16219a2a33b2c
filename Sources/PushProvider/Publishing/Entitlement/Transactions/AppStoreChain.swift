import Crypto
package import Foundation
import PushSupport
import PushTypes
import SwiftASN1
@_spi(FixedExpiryValidationTime) import X509

/// Checks that the certificates of a transaction belong to the App Store, and returns the signer's key.
///
/// The chain must consist of the signer's certificate with Apple's OID for receipts, an intermediate certificate with
/// the OID of Apple's Worldwide Developer Relations, and a configured root. Each must be signed by the next, and all
/// must have been valid at the time of the signature. Revocation is not looked up: all checks happen offline.
final class AppStoreChain: Sendable {
    /// The maximum number of accepted chains that are cached. Apple uses one or two at a time.
    static let maximumRemembered = 16

    private struct Accepted {
        var key: P256.Signing.PublicKey
        /// The period in which all certificates of the chain are valid.
        var validity: ClosedRange<Date>
    }

    private let roots: [[UInt8]: Certificate]
    private let accepted = SharedCache<SHA256Digest, Accepted>(maximum: AppStoreChain.maximumRemembered)

    init(_ roots: AppStoreRoots) {
        let pairs = roots.certificates.compactMap { root in (try? Self.der(root)).map { ($0, root) } }
        self.roots = Dictionary(pairs, uniquingKeysWith: { first, _ in first })
    }

    /// Returns the signer's key, if the certificates belonged to the App Store at the given time.
    ///
    /// Validation is expensive, so forged certificates are charged to the client's budget. Once that is used up, no
    /// other chains are validated, and only those in the cache stay accepted: behind a proxy all clients have one
    /// address, and readers must not be refused because of a forger.
    /// - Parameters:
    ///   - chain: Three certificates in DER, the signer's first.
    ///   - time: The time of the signature.
    ///   - wrong: The budget of wrong secrets.
    /// - Throws: ``TransactionFault/unchecked(_:)`` if the budget is used up, otherwise the fault of the chain.
    func key(
        of chain: [[UInt8]],
        at time: Timestamp,
        wrong: Budget,
        of client: BudgetCaller
    ) async throws(TransactionFault) -> P256.Signing.PublicKey {
        let date = Date(timeIntervalSince1970: Double(time.milliseconds) / 1000)
        let name = Self.name(of: chain)
        if let known = self.accepted[name], known.validity.contains(date) { return known.key }
        // The root is compared first, so that a chain of another authority needs no validation.
        guard chain.count == CompactJWS.certificateCount, let root = self.roots[chain[2]] else {
            throw .untrusted("its root certificate is not a configured one")
        }
        do throws(BudgetRefusal) {
            try wrong.check(for: client)
        } catch {
            throw .unchecked(error)
        }
        let found: Accepted
        do throws(TransactionFault) {
            found = try await Self.accept(leaf: chain[0], issuer: chain[1], root, at: date)
        } catch {
            // The caller learns the fault even if others have used up the budget meanwhile.
            try? wrong.spend(for: client)
            throw error
        }
        self.accepted[name] = found
        return found.key
    }

    private static func accept(
        leaf: [UInt8],
        issuer: [UInt8],
        _ root: Certificate,
        at date: Date
    ) async throws(TransactionFault) -> Accepted {
        guard let leaf = try? Certificate(derEncoded: leaf), let issuer = try? Certificate(derEncoded: issuer) else {
            throw .malformed("a certificate in its header cannot be read")
        }
        guard leaf.extensions[oid: .appStoreReceiptSigning] != nil else {
            throw .untrusted("its first certificate is not one for signing receipts")
        }
        guard issuer.extensions[oid: .worldwideDeveloperRelations] != nil else {
            throw .untrusted("its second certificate is not Apple's for developer relations")
        }
        guard let key = P256.Signing.PublicKey(leaf.publicKey) else {
            throw .untrusted("its first certificate has no key for ES256")
        }
        var verifier = Verifier(rootCertificates: CertificateStore([root])) {
            RFC5280Policy(fixedExpiryValidationTime: date)
        }
        let result = await verifier.validate(leaf: leaf, intermediates: CertificateStore([issuer]))
        guard case .validCertificate(let path) = result, path.count == CompactJWS.certificateCount else {
            throw .untrusted(
                "its certificates do not lead to the configured root, or were not valid when it was signed"
            )
        }
        let start = path.map(\.notValidBefore).max() ?? date
        let end = path.map(\.notValidAfter).min() ?? date
        return Accepted(key: key, validity: start...max(start, end))
    }

    private static func der(_ certificate: Certificate) throws -> [UInt8] {
        var serializer = DER.Serializer()
        try serializer.serialize(certificate)
        return serializer.serializedBytes
    }

    private static func name(of chain: [[UInt8]]) -> SHA256Digest {
        var hash = SHA256()
        for certificate in chain {
            withUnsafeBytes(of: UInt64(certificate.count).bigEndian) { hash.update(bufferPointer: $0) }
            hash.update(data: certificate)
        }
        return hash.finalize()
    }
}

extension ASN1ObjectIdentifier {
    /// The OID in certificates that sign receipts and transactions of the App Store.
    fileprivate static let appStoreReceiptSigning: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 11, 1]
    /// The OID in the intermediate certificates of Apple's Worldwide Developer Relations.
    fileprivate static let worldwideDeveloperRelations: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 2, 1]
}

/// The root certificates to which transactions' certificate chains must lead: Apple's, or those of a test authority.
package struct AppStoreRoots: Sendable {
    /// The error for a file that contains no certificates.
    package struct Unreadable: Error {}

    /// The maximum size of a file of root certificates, in bytes. The provider's settings reject a larger one.
    package static let maximumLength = 64 * 1024

    let certificates: [Certificate]

    /// Parses one certificate in DER, or one or more in PEM.
    /// - Throws: ``Unreadable`` if the file contains no certificates.
    package init(_ file: Data) throws(Unreadable) {
        do {
            let text = String(decoding: file, as: UTF8.self)
            guard text.contains("-----BEGIN") else {
                self.certificates = [try Certificate(derEncoded: Array(file))]
                return
            }
            self.certificates = try PEMDocument.parseMultiple(pemString: text).map { try Certificate(pemDocument: $0) }
        } catch {
            throw Unreadable()
        }
        guard !self.certificates.isEmpty else { throw Unreadable() }
    }
}
