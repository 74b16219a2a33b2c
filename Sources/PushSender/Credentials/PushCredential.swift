import Crypto
public import PushTypes

/// What a sender proves itself with: a signing key or a certificate (reference 2).
public enum PushCredential: Sendable {
    case token(ProviderKey)
    case certificate(ClientCertificate)

    /// Reads a credential and tells its format by its content; see ``CredentialFile``.
    public static func load(
        file path: String,
        passphrase: String? = nil,
        teamID: String? = nil,
        keyID: String? = nil,
        keyFile: String? = nil
    ) throws(CredentialError) -> PushCredential {
        try CredentialFile(path: path, passphrase: passphrase, teamID: teamID, keyID: keyID, keyFile: keyFile).load()
    }

    /// Tells credentials apart without a secret: the same for the same key or certificate, in every process.
    public var identity: String {
        switch self {
        case .certificate(let certificate): "certificate-\(certificate.fingerprint)"
        case .token(let key):
            "token-\(Hexadecimal.encode(SHA256.hash(data: Array("\(key.teamID) \(key.keyID) ".utf8) + key.publicKey)))"
        }
    }

    /// `nil` for a signing key, which only ends by being revoked.
    public var expires: Timestamp? {
        switch self {
        case .token: nil
        case .certificate(let certificate): certificate.expires
        }
    }
}
