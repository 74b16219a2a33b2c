import NIOSSL
package import PushTypes
import Synchronization

/// What a sender proves itself with: a TLS context, and provider tokens unless the context has a client certificate.
struct SenderIdentity: Sendable {
    let tls: NIOSSLContext
    /// `nil` with certificate trust.
    let token: (any ProviderTokenSource)?

    /// - Throws: ``CredentialError`` for a certificate that cannot be used with the endpoint at `now`, and what the
    ///   TLS library throws for trust roots that are no PEM certificates.
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

/// Gives the provider token of one key to all connections that sign with it.
package protocol ProviderTokenSource: Sendable {
    /// The token for requests at `now`. Called on event loops: it must not wait.
    /// - Throws: what the cryptography library throws if it cannot sign.
    func text(now: Timestamp) throws -> String
    /// Notes that the push service refused `text` as too old.
    func expired(_ text: String, now: Timestamp)
}

/// One provider token for all connections of a sender, in memory: the first that needs a new one makes it.
final class SharedProviderToken: ProviderTokenSource {
    private let token: Mutex<ProviderTokenSigner>

    init(_ key: ProviderKey) {
        self.token = Mutex(ProviderTokenSigner(key: key))
    }

    func text(now: Timestamp) throws -> String {
        try self.token.withLock { try $0.text(now: now) }
    }

    /// The push service refused `text` as too old.
    func expired(_ text: String, now: Timestamp) {
        self.token.withLock { $0.tokenExpired(text, now: now) }
    }
}
