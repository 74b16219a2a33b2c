import NIOSSL
import PushProtocol
import Synchronization

/// What a sender proves itself with: a TLS context, and provider tokens unless the context has a client certificate.
struct SenderIdentity: Sendable {
    let tls: NIOSSLContext
    /// `nil` with certificate trust.
    let token: SharedProviderToken?
}

/// One provider token for all connections of a sender: whoever needs a new one first makes it.
final class SharedProviderToken: Sendable {
    private let token: Mutex<ProviderToken>

    init(_ key: ProviderKey) {
        self.token = Mutex(ProviderToken(key: key))
    }

    func text(now: Timestamp) throws -> String {
        try self.token.withLock { try $0.text(now: now) }
    }

    /// The push service refused `text` as too old.
    func expired(_ text: String, now: Timestamp) {
    }
}
