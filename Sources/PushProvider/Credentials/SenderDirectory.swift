import Foundation
package import Logging
package import PushSender
package import PushStore
import PushTypes
import Synchronization

/// One environment of an app.
struct AppEnvironment: Hashable, Sendable {
    var app: Int64
    var environment: PushEnvironment
}

/// Finds the senders of an app. Its credentials are read from the store once, until they change.
package final class SenderDirectory: Sendable {
    private typealias Key = AppEnvironment

    /// A credential that was read, or the reason for which there is none.
    private enum Entry {
        case usable(PushCredential)
        /// The store has no credential, or one that cannot be used.
        case none(reason: String)
    }

    private let store: any AppStore
    private let source: any SenderSource
    /// The provider tokens; `nil` leaves them to the senders, in memory.
    private let tokens: ProviderTokenCache?
    private let logger: Logger
    /// The credentials that were read.
    private struct State {
        var entries: [Key: Entry] = [:]
        /// A number that rises when credentials change, so that one that was read before is not remembered.
        var generation = 0
    }

    private let state = Mutex(State())

    package init(store: any AppStore, source: any SenderSource, tokens: ProviderTokenCache? = nil, logger: Logger) {
        (self.store, self.source, self.tokens, self.logger) = (store, source, tokens, logger)
    }

    /// Forgets the credentials of an app after a change. They are read again, and the senders that use them are retired.
    package func forget(app: Int64) {
        let forgotten = self.state.withLock { state in
            state.generation += 1
            return PushEnvironment.allCases.compactMap { environment -> (Key, PushCredential)? in
                let key = Key(app: app, environment: environment)
                guard case .usable(let credential)? = state.entries.removeValue(forKey: key) else { return nil }
                return (key, credential)
            }
        }
        for (key, credential) in forgotten { self.retire(credential, of: key) }
    }

    /// Retires the senders of a credential, unless the app uses it again.
    private func retire(_ credential: PushCredential, of key: Key) {
        let isUsed = self.state.withLock { state in
            guard case .usable(let current)? = state.entries[key] else { return false }
            return current.identity == credential.identity
        }
        if !isUsed { self.source.retire(credential, app: key.app, environment: key.environment) }
    }

    /// Returns a sender for each environment with a usable credential, and the reason for each other environment.
    func senders(
        app: Int64,
        lane: SenderLane
    ) async throws -> (usable: [PushEnvironment: any NotificationSender], faults: [PushEnvironment: String]) {
        let generation = self.state.withLock { $0.generation }
        var usable: [PushEnvironment: any NotificationSender] = [:]
        var faults: [PushEnvironment: String] = [:]
        for environment in PushEnvironment.allCases {
            switch try await self.entry(Key(app: app, environment: environment)) {
            case .usable(let credential):
                if case .token(let key) = credential { await self.tokens?.prepare(key) }
                do {
                    let source = self.source
                    usable[environment] = try source.sender(
                        for: credential,
                        app: app,
                        environment: environment,
                        lane: lane
                    )
                } catch {
                    faults[environment] = "the credential for \(environment.rawValue) cannot be used: \(error)"
                }
                // The credential was replaced meanwhile: its sender serves this page only.
                if self.state.withLock({ $0.generation }) != generation {
                    self.retire(credential, of: Key(app: app, environment: environment))
                }
            case .none(let reason): faults[environment] = reason
            }
        }
        return (usable, faults)
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
}

extension SenderDirectory {
    /// Reads a credential. One that can never be read is reported as unusable.
    /// - Throws: The error of a store that cannot be read now.
    private func read(_ key: Key) async throws -> Entry {
        let name = key.environment.rawValue
        do {
            guard let record = try await self.store.credential(app: key.app, environment: key.environment)
            else { return .none(reason: "no usable credential for \(name)") }
            let credential = try record.credential()
            return .usable(self.tokens?.keep(credential) ?? credential)
        } catch let error
            where error is CredentialError || error is DamagedRow || error as? StoreError == .wrongMasterKey
        {
            self.logger.error("a credential cannot be used", metadata: ["environment": "\(name)", "error": "\(error)"])
            return .none(reason: "the credential for \(name) cannot be used: \(error)")
        }
    }
}

extension CredentialRecord {
    /// Returns the credential for the sender.
    /// - Throws: ``CredentialError`` for one that cannot be used.
    package func credential() throws(CredentialError) -> PushCredential {
        switch self {
        case .key(let teamID, let keyID, let privateKey):
            .token(try ProviderKey(teamID: teamID, keyID: keyID, pem: privateKey))
        case .certificate(let pem, let passphrase):
            .certificate(try ClientCertificate(pem: pem, passphrase: passphrase))
        case .archive(let bytes, let passphrase):
            .certificate(try ClientCertificate(p12: bytes, passphrase: passphrase))
        }
    }
}
