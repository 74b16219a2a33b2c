import NIOSSL
public import PushTypes

/// The credential with which a provider authenticates to the push service (APNs reference 2).
public enum PushCredential: Sendable {
    /// A credential that is a signing key. Each request contains a provider token that the key has signed.
    case token(ProviderKey)
    /// A credential that is a certificate, which is presented on each connection.
    case certificate(ClientCertificate)

    /// Reads a credential from files. The format is recognized from the contents.
    /// - Parameters:
    ///   - path: The path of a `.p8`, a `.p12`, a `.cer` or a PEM file.
    ///   - passphrase: The passphrase of a `.p12` or an encrypted key, or `nil` if there is none.
    ///   - teamID: The identifier of the developer team, which a `.p8` requires, or `nil` for other formats.
    ///   - keyID: The key identifier for a `.p8`, or `nil` to take it from a file name such as `AuthKey_ABC123DEFG.p8`.
    ///   - keyFile: The path of the private key's PEM file, if the file at `path` contains only the certificate, or
    ///     otherwise `nil`.
    /// - Throws: ``CredentialError``, whose description states the remedy.
    public static func load(
        file path: String,
        passphrase: String? = nil,
        teamID: String? = nil,
        keyID: String? = nil,
        keyFile: String? = nil
    ) throws(CredentialError) -> PushCredential {
        try CredentialFile(path: path, passphrase: passphrase, teamID: teamID, keyID: keyID, keyFile: keyFile).load()
    }

    /// An identifier that contains no secret and is the same for the same key or certificate in every process.
    public var identity: String {
        switch self {
        case .certificate(let certificate):
            "certificate-\(certificate.fingerprint)\(certificate.transport == .http2 ? "" : "-binary")"
        case .token(let key): key.identity
        }
    }

    /// Returns the credential for pushes over another transport. A signing key is returned unchanged, because it can
    /// only be used with HTTP/2.
    package func over(_ transport: PushTransport) -> PushCredential {
        guard case .certificate(var certificate) = self else { return self }
        certificate.transport = transport
        return .certificate(certificate)
    }

    package var transport: PushTransport {
        if case .certificate(let certificate) = self { certificate.transport } else { .http2 }
    }

    /// The expiration time of a certificate, or `nil` for a signing key, which does not expire.
    public var expires: Timestamp? {
        switch self {
        case .token: nil
        case .certificate(let certificate): certificate.expires
        }
    }
}

/// The authentication of a sender. It consists of a TLS context, and of provider tokens unless the context has a client
/// certificate.
struct SenderIdentity: Sendable {
    let tls: NIOSSLContext
    /// The source of provider tokens, or `nil` if the sender authenticates with a certificate.
    let token: (any ProviderTokenSource)?

    /// Creates an identity.
    /// - Throws: ``CredentialError`` for a certificate that cannot be used with the endpoint at `now`, or an error of
    ///   the TLS library for trust roots that are not PEM certificates.
    init(_ credential: PushCredential, endpoint: PushServiceEndpoint, now: Timestamp) throws {
        var tls = try endpoint.tlsConfiguration()
        switch credential {
        case .token(let key): self.token = key.tokens ?? SharedProviderToken(key)
        case .certificate(let certificate):
            if let environment = endpoint.environment { try certificate.check(environment: environment, now: now) }
            tls.certificateChain = certificate.certificateChain
            tls.privateKey = certificate.privateKey
            self.token = nil
        }
        self.tls = try NIOSSLContext(configuration: tls)
    }
}
