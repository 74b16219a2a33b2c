import Crypto
package import Logging
package import PushSender
package import PushStore
package import PushSupport
import PushTypes
import Synchronization

/// The provider tokens of all keys, kept in the store so that a restart continues with the token in use: Apple accepts a new
/// one at most every 20 minutes.
package final class ProviderTokenCache: Sendable {
    private let store: any ProviderTokenStore
    private let time: any TimeSource
    private let logger: Logger
    private let tokens = Mutex<[ProviderTokenKey: StoredProviderToken]>([:])

    package init(store: any ProviderTokenStore, time: any TimeSource, logger: Logger) {
        (self.store, self.time, self.logger) = (store, time, logger)
    }

    /// Returns the credential; a signing key takes its provider tokens from this cache.
    package func keep(_ credential: PushCredential) -> PushCredential {
        guard case .token(var key) = credential else { return credential }
        key.tokens = self.token(key)
        return .token(key)
    }

    /// Reads or renews the key's provider token if it is due, before a push is sent with it.
    func prepare(_ key: ProviderKey) async {
        guard let token = key.tokens as? StoredProviderToken else { return }
        await token.prepare(now: self.time.now)
    }

    /// Returns the provider token of a key, which all apps with this key share.
    private func token(_ key: ProviderKey) -> StoredProviderToken {
        let id = ProviderTokenKey(
            teamID: key.teamID,
            keyID: key.keyID,
            fingerprint: Hexadecimal.encode(SHA256.hash(data: key.publicKey))
        )
        return self.tokens.withLock { tokens in
            if let known = tokens[id] { return known }
            let token = StoredProviderToken(key, id: id, store: self.store, logger: self.logger)
            tokens[id] = token
            return token
        }
    }
}
