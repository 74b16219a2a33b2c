import NIOSSL
package import PushTypes
import Synchronization

/// The authentication of a sender: a TLS context, and provider tokens unless the context has a client certificate.
struct SenderIdentity: Sendable {
    let tls: NIOSSLContext
    /// The source of provider tokens, or `nil` with certificate trust.
    let token: (any ProviderTokenSource)?

    /// - Throws: ``CredentialError`` for a certificate that cannot be used with the endpoint at `now`, and the TLS
    ///   library's error for trust roots that are not PEM certificates.
    init(_ credential: PushCredential, endpoint: PushServiceEndpoint, now: Timestamp) throws {
        var tls = try endpoint.tlsConfiguration()
        switch credential {
        case .token(let key):
            self.token = key.tokens ?? SharedProviderToken(key)
        case .certificate(let certificate):
            if let environment = endpoint.environment { try certificate.check(environment: environment, now: now) }
            tls.certificateChain = certificate.certificateChain
            tls.privateKey = certificate.privateKey
            self.token = nil
        }
        self.tls = try NIOSSLContext(configuration: tls)
    }
}

/// Returns the provider token of one key, for all connections that use it.
package protocol ProviderTokenSource: Sendable {
    /// Returns the token for requests at `now`. It is called on event loops and must not block.
    /// - Throws: The error of the cryptography library if it cannot sign.
    func text(now: Timestamp) throws -> String
    /// Notes that the push service rejected `text` as too old.
    func expired(_ text: String, now: Timestamp)
}

/// The provider token for all connections of a sender, in memory. The first connection that needs a new one signs it.
final class SharedProviderToken: ProviderTokenSource {
    private let token: Mutex<ProviderTokenSigner>

    init(_ key: ProviderKey) {
        self.token = Mutex(ProviderTokenSigner(key: key))
    }

    func text(now: Timestamp) throws -> String {
        try self.token.withLock { try $0.text(now: now) }
    }

    func expired(_ text: String, now: Timestamp) {
        self.token.withLock { $0.tokenExpired(text, now: now) }
    }
}
