import Crypto
package import ProviderModel
package import PushSender
import Synchronization

/// A cache of the certificates that were opened recently, and of the errors of those that could not be opened.
///
/// Opening a certificate may take a second, because a key is derived from its passphrase. Every list of an app's
/// credentials, every check of expirations and every sender would open the same certificate again.
final class CertificateCache: Sendable {
    private typealias Opened = Result<ClientCertificate, CredentialError>

    static let shared = CertificateCache()
    /// The maximum number of certificates in each of the two generations. When the recent generation is full, it
    /// replaces the earlier one, whose certificates are discarded.
    private static let generation = 128

    private struct State {
        var recent: [SHA256Digest: Opened] = [:]
        var earlier: [SHA256Digest: Opened] = [:]

        mutating func opened(_ id: SHA256Digest) -> Opened? {
            if let opened = self.recent[id] { return opened }
            guard let opened = self.earlier[id] else { return nil }
            self.remember(opened, id)
            return opened
        }

        mutating func remember(_ opened: Opened, _ id: SHA256Digest) {
            if self.recent.count >= CertificateCache.generation { (self.earlier, self.recent) = (self.recent, [:]) }
            self.recent[id] = opened
        }
    }

    private let state = Mutex(State())

    /// Returns a certificate from the cache. One that is not cached is opened with `open`, and the certificate or the
    /// error that `open` throws is cached.
    /// - Parameter id: The hash of the certificate's file and passphrase.
    func certificate(
        _ id: SHA256Digest,
        _ open: () throws(CredentialError) -> ClientCertificate
    ) throws(CredentialError) -> ClientCertificate {
        if let known = self.state.withLock({ $0.opened(id) }) { return try Self.value(known) }
        let opened = Result { () throws(CredentialError) in try open() }
        self.state.withLock { $0.remember(opened, id) }
        return try Self.value(opened)
    }

    /// Empties the cache, so that the private key of a replaced or removed credential does not stay in memory.
    func forget() { self.state.withLock { ($0.recent, $0.earlier) = ([:], [:]) } }

    private static func value(_ opened: Opened) throws(CredentialError) -> ClientCertificate {
        switch opened {
        case .success(let certificate): return certificate
        case .failure(let error): throw error
        }
    }
}

extension CredentialRecord {
    /// Returns the credential in the form that senders use.
    /// - Throws: ``CredentialError`` if the credential cannot be used.
    package func credential() throws(CredentialError) -> PushCredential {
        switch self {
        case .key(let teamID, let keyID, let privateKey):
            return .token(try ProviderKey(teamID: teamID, keyID: keyID, pem: privateKey))
        case .certificate(let pem, let passphrase):
            let id = Self.hash("pem", Array(pem.utf8), passphrase)
            let certificate = try CertificateCache.shared.certificate(id) { () throws(CredentialError) in
                try ClientCertificate(pem: pem, passphrase: passphrase)
            }
            return .certificate(certificate)
        case .archive(let bytes, let passphrase):
            let id = Self.hash("p12", bytes, passphrase)
            let certificate = try CertificateCache.shared.certificate(id) { () throws(CredentialError) in
                try ClientCertificate(p12: bytes, passphrase: passphrase)
            }
            return .certificate(certificate)
        }
    }

    private static func hash(_ kind: String, _ file: [UInt8], _ passphrase: String?) -> SHA256Digest {
        let secret = passphrase.map { Array($0.utf8) }
        return SHA256.hash(data: Array("\(kind) \(secret?.count ?? -1) ".utf8) + (secret ?? []) + file)
    }
}
