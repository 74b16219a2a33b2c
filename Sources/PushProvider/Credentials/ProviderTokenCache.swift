import Crypto
package import Logging
import ProviderModel
package import PushSender
package import PushStore
package import PushSupport
import PushTypes
import Synchronization

/// A cache of the provider tokens of all signing keys. The tokens are stored as well, so that a token in use survives a
/// restart: Apple accepts a new one at most every 20 minutes.
package final class ProviderTokenCache: Sendable {
    private let store: any ProviderTokenStore
    private let time: any TimeSource
    private let logger: Logger
    private let tokens = Mutex<[ProviderTokenKey: StoredProviderToken]>([:])

    package init(store: any ProviderTokenStore, time: any TimeSource, logger: Logger) {
        (self.store, self.time, self.logger) = (store, time, logger)
    }

    /// Makes a signing key take its provider tokens from this cache, and returns it. A certificate is unchanged.
    package func keep(_ credential: PushCredential) -> PushCredential {
        guard case .token(var key) = credential else { return credential }
        key.tokens = self.token(key)
        return .token(key)
    }

    /// Reads the key's provider token from the store, or renews it if renewal is due, before a push is sent with it.
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

/// The provider token of one key, in memory and in the store.
///
/// It is read and renewed between pages, where waiting is allowed. If the store cannot be used until the token expires,
/// a new token is signed without it, and stored as soon as possible.
private final class StoredProviderToken: ProviderTokenSource {
    private struct State {
        var current: ProviderTokenRecord?
        var isStored = false
        /// The task that stores the token or takes over the stored one, or `nil` if none is running.
        var refreshing: Task<Void, Never>?
        /// The issue time of the current token if the push service has rejected it as expired, or `nil` otherwise.
        var expiredIssue: Timestamp?
    }

    private let key: ProviderKey
    private let id: ProviderTokenKey
    private let store: any ProviderTokenStore
    private let logger: Logger
    private let state = Mutex(State())

    init(_ key: ProviderKey, id: ProviderTokenKey, store: any ProviderTokenStore, logger: Logger) {
        var key = key
        // The key would retain this object otherwise.
        key.tokens = nil
        (self.key, self.id, self.store, self.logger) = (key, id, store, logger)
    }

    func text(now: Timestamp) throws -> String {
        try self.state.withLock { state in
            if let current = state.current, current.isUsable(at: now) { return current.text }
            let signed = try self.sign(now)
            (state.current, state.isStored, state.expiredIssue) = (signed, false, nil)
            return signed.text
        }
    }

    func expired(_ text: String, now: Timestamp) {
        let isNew = self.state.withLock { state in
            guard let current = state.current, current.text == text, state.expiredIssue == nil,
                !current.forbidsAnother(at: now)
            else { return false }
            state.expiredIssue = current.issuedAt
            return true
        }
        // A rejected token is renewed immediately, and not only before the next page.
        if isNew { Task { await self.prepare(now: now) } }
    }

    /// Stores the token or takes over the stored one, if there is no token yet, renewal is due, or the store lacks it.
    func prepare(now: Timestamp) async {
        let refreshing = self.state.withLock { state -> Task<Void, Never>? in
            if let current = state.current {
                let isNeeded = !state.isStored || state.expiredIssue != nil || current.isDue(at: now)
                guard isNeeded else { return nil }
                // No caller waits for a new token while the current one is usable.
                if state.refreshing != nil, current.isUsable(at: now) { return nil }
            }
            if let refreshing = state.refreshing { return refreshing }
            let refreshing = Task { await self.refresh(now: now) }
            state.refreshing = refreshing
            return refreshing
        }
        await refreshing?.value
    }

    private func refresh(now: Timestamp) async {
        let (current, isStored, expired) = self.state.withLock { ($0.current, $0.isStored, $0.expiredIssue) }
        do {
            // A token that the store does not have is offered to it, unless the token is due or expired.
            let isOffered = !isStored && expired == nil && current?.isDue(at: now) == false
            let offered = try isOffered ? current ?? self.sign(now) : self.sign(now)
            let stored = try await self.store.providerToken(offering: offered, rejected: expired, now: now)
            self.state.withLock { state in
                state.current = stored
                (state.isStored, state.refreshing) = (true, nil)
                // Another token may have been rejected meanwhile.
                if state.expiredIssue == expired { state.expiredIssue = nil }
            }
        } catch {
            self.state.withLock { $0.refreshing = nil }
            self.logger.error(
                "the provider token cannot be stored, trying again",
                metadata: ["key": "\(self.id.keyID)", "error": "\(error)"]
            )
        }
    }

    private func sign(_ now: Timestamp) throws -> ProviderTokenRecord {
        ProviderTokenRecord(
            key: self.id,
            text: try ProviderTokenSigner.sign(key: self.key, issuedAt: now),
            issuedAt: now
        )
    }
}
