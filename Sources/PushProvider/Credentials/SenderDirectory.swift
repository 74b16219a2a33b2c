package import Logging
import ProviderModel
package import PushSender
package import PushStore
import PushTypes
import Synchronization

/// Finds the senders of an app. The credentials of an app are read from the store once, and again after a change.
package final class SenderDirectory: Sendable {
    private typealias Key = AppEnvironment

    private enum Entry {
        case usable(PushCredential, epoch: Int64)
        /// A stored credential that cannot be used because of this fault.
        case unusable(ConfigurationFault, epoch: Int64)
        /// The entry of an environment for which no credential is stored.
        case none(epoch: Int64)
    }

    private let store: any EnvironmentStore
    private let source: any SenderSource
    /// The cache of provider tokens, or `nil` if each sender keeps its tokens in memory only.
    private let tokens: ProviderTokenCache?
    private let logger: Logger
    private struct State {
        var entries: [Key: Entry] = [:]
        /// A counter that is incremented when credentials change, so that a credential read before that is not cached.
        var generation = 0
    }

    private let state = Mutex(State())

    package init(
        store: any EnvironmentStore,
        source: any SenderSource,
        tokens: ProviderTokenCache? = nil,
        logger: Logger
    ) {
        (self.store, self.source, self.tokens, self.logger) = (store, source, tokens, logger)
    }

    /// Forgets an app's cached credentials after a change, and removes the senders that use them.
    package func forget(app: Int64) {
        let forgotten = self.state.withLock { state in
            state.generation += 1
            return PushEnvironment.allCases.compactMap { environment -> (Key, PushCredential)? in
                let key = Key(app: app, environment: environment)
                guard case .usable(let credential, _)? = state.entries.removeValue(forKey: key) else { return nil }
                return (key, credential)
            }
        }
        for (key, credential) in forgotten { self.retire(credential, of: key) }
        CertificateCache.shared.forget()
    }

    /// Removes the senders of a credential, which close once no page uses them, unless the app uses it again.
    private func retire(_ credential: PushCredential, of key: Key) {
        let isUsed = self.state.withLock { state in
            guard case .usable(let current, _)? = state.entries[key] else { return false }
            return current.identity == credential.identity
        }
        if !isUsed { self.source.retire(credential, app: key.app, environment: key.environment) }
    }

    /// Returns the senders for all environments of an app, or the faults because of which there are none.
    /// - Parameter now: The time at which certificates are checked for expiry.
    func senders(app: Int64, lane: SenderLane, at now: Timestamp) async throws -> AppSenders {
        let generation = self.state.withLock { $0.generation }
        var senders = AppSenders()
        for environment in PushEnvironment.allCases {
            let key = Key(app: app, environment: environment)
            switch try await self.entry(key) {
            case .usable(let credential, let epoch):
                senders.epochs[environment] = epoch
                if case .token(let key) = credential { await self.tokens?.prepare(key) }
                do {
                    try credential.checkExpiry(at: now)
                    let source = self.source
                    senders.endpoints[environment] = source.endpoint(of: environment, for: credential)
                    senders.usable[environment] = try source.sender(
                        for: credential,
                        app: app,
                        environment: environment,
                        lane: lane
                    )
                } catch {
                    senders.faults[environment] = self.fault(error, environment)
                }
                // The credential was replaced meanwhile, so that the sender is used for this page only.
                if self.state.withLock({ $0.generation }) != generation {
                    self.retire(credential, of: key)
                }
            case .unusable(let fault, let epoch):
                (senders.faults[environment], senders.epochs[environment]) = (fault, epoch)
            case .none(let epoch): senders.epochs[environment] = epoch
            }
        }
        return senders
    }

    /// Returns the stored credential of an environment for a test, or a failure if there is none or it cannot be used.
    func credential(_ target: AppEnvironment, at now: Timestamp) async throws -> Result<PushCredential, CredentialFault>
    {
        switch try await self.entry(target) {
        case .usable(let credential, _):
            if case .token(let key) = credential { await self.tokens?.prepare(key) }
            do {
                try credential.checkExpiry(at: now)
                return .success(credential)
            } catch {
                return .failure(CredentialFault(self.fault(error, target.environment)))
            }
        case .unusable(let fault, _): return .failure(CredentialFault(fault))
        case .none: return .failure(CredentialFault(.missing(target.environment)))
        }
    }

    /// Prepares a credential that is not stored for a test. It shares the provider token of a stored credential with
    /// the same key, because the push service limits the number of new tokens.
    func prepare(_ credential: PushCredential) async -> PushCredential {
        guard let tokens else { return credential }
        let kept = tokens.keep(credential)
        if case .token(let key) = kept { await tokens.prepare(key) }
        return kept
    }

    private func entry(_ key: Key) async throws -> Entry {
        let (known, generation) = self.state.withLock { ($0.entries[key], $0.generation) }
        if let known { return known }
        let entry = try await self.read(key)
        self.state.withLock { state in
            if state.generation == generation { state.entries[key] = entry }
        }
        return entry
    }

    private func fault(_ error: any Error, _ environment: PushEnvironment) -> ConfigurationFault {
        let endpoint = self.source.endpoint(of: environment)
        let cause: ConfigurationFault.Cause
        if case CredentialError.expired = error { cause = .credentialExpired } else { cause = .credentialUnusable }
        return ConfigurationFault(cause, detail: "\(error)", host: endpoint.host, port: endpoint.port)
    }
}

/// The senders of an app's environments, or the faults because of which an environment has none.
struct AppSenders: Sendable {
    var usable: [PushEnvironment: any NotificationSender] = [:]
    var endpoints: [PushEnvironment: PushServiceEndpoint] = [:]
    var faults: [PushEnvironment: ConfigurationFault] = [:]
    /// The epochs of the credentials: the numbers of their changes (``StoredCredential/epoch``).
    var epochs: [PushEnvironment: Int64] = [:]
}

/// The error of an environment whose credential is missing or cannot be used.
struct CredentialFault: Error {
    let fault: ConfigurationFault

    init(_ fault: ConfigurationFault) { self.fault = fault }
}

extension ConfigurationFault {
    static func missing(_ environment: PushEnvironment) -> ConfigurationFault {
        ConfigurationFault(.credentialMissing, detail: "no credential for \(environment.rawValue)")
    }
}

extension PushCredential {
    /// Throws ``CredentialError/expired(since:)`` if the credential has expired.
    fileprivate func checkExpiry(at now: Timestamp) throws(CredentialError) {
        if let expires, now > expires { throw .expired(since: expires) }
    }
}

extension SenderDirectory {
    /// Reads a credential. A credential that can never be read is returned as unusable.
    /// - Throws: The store's error if the store cannot be read now.
    private func read(_ key: Key) async throws -> Entry {
        // The epoch is read before the credential. If the credential changes in between, conclusions about it carry the
        // older epoch and do not count.
        let epoch = try await self.store.credentialEpoch(key)
        do {
            guard let stored = try await self.store.storedCredential(key) else { return .none(epoch: epoch) }
            let credential = try stored.credential.credential().over(stored.transport)
            return .usable(self.tokens?.keep(credential) ?? credential, epoch: stored.epoch)
        } catch let error
            where error is CredentialError || error is DamagedRow || error as? StoreError == .wrongMasterKey
        {
            let environment = key.environment.rawValue
            self.logger.error(
                "a credential cannot be used",
                metadata: ["environment": "\(environment)", "error": "\(error)"]
            )
            return .unusable(self.fault(error, key.environment), epoch: epoch)
        }
    }
}
