import Crypto
package import Foundation
package import Logging
package import ProviderModel
package import PushStore
package import PushSupport
package import PushTypes
import ServiceLifecycle
import Synchronization

/// Issues and checks API keys. A key is `mk_`, or `mk_public_` for a public key, and 32 random bytes in base64url.
///
/// The store keeps the SHA-256 of a key. A slow hash would gain nothing: 256 random bits cannot be guessed.
package struct APIKeys: Sendable {
    package static let prefix = "mk_"
    /// The prefix of public keys, which may be in an app's binary.
    package static let publicPrefix = "mk_public_"

    private let store: any APIKeyStore
    private let time: any TimeSource
    /// The hashes of keys that are or were valid. Such a key is looked up even if other clients at the same address
    /// have used up the budget of wrong keys.
    private let known = SharedCache<[UInt8], Void>(maximum: 65_536)
    /// Records the time of each key's last request.
    package let uses: KeyUsageWriter

    /// Creates the service, and reads the hashes of the stored keys.
    package init(store: any APIKeyStore, time: any TimeSource, logger: Logger) async throws {
        (self.store, self.time) = (store, time)
        self.uses = KeyUsageWriter(store: store, logger: logger)
        for hash in try await store.keyHashes(limit: self.known.maximum) { self.known.insert(hash) }
    }

    /// Generates a random key that is not public, and returns its text. The key is not stored.
    package static func newText() -> String { Self.prefix + RandomText.make() }

    /// Returns whether the text has the form of a key that is not public.
    package static func isKey(_ text: String) -> Bool {
        let secret = text.utf8.dropFirst(Self.prefix.utf8.count)
        return text.hasPrefix(Self.prefix) && secret.count == RandomText.length
            && secret.allSatisfy { $0.isAlphanumeric || "-_".utf8.contains($0) }
    }

    /// Stores a new key, and returns it with its text, which cannot be read again.
    /// - Parameters:
    ///   - text: The text of the key, or `nil` to generate it.
    ///   - set: Sets the other properties of the key.
    package func issue(
        name: String,
        scopes: Set<APIScope>,
        text: String? = nil,
        _ set: (inout APIKeyRecord) -> Void = { _ in }
    ) async throws -> (key: APIKeyRecord, text: String) {
        var key = APIKeyRecord(id: UUID(), name: name, scopes: scopes, createdAt: self.time.now)
        set(&key)
        let text = text ?? (key.isPublic ? Self.publicPrefix + RandomText.make() : Self.newText())
        let hash = Self.hash(text)
        try await self.store.addKey(key, hash: hash)
        self.known.insert(hash)
        return (key, text)
    }

    /// A Boolean value that indicates whether no key is stored.
    package var isEmpty: Bool { get async throws { try await self.store.keys().isEmpty } }

    /// Returns the key with this text, and records its use, or returns `nil` if there is no such key.
    /// - Throws: ``RequestError`` for a key that has expired.
    package func check(_ text: String) async throws -> APIKeyRecord? {
        guard Self.canBeKey(text), let key = try await self.store.key(hash: Self.hash(text)) else { return nil }
        return try self.use(key)
    }

    /// Returns the key with this text as ``check(_:)`` does, for a client without any other credential.
    ///
    /// A wrong key is charged to the budget of the client's address. Once the budget is used up, only keys that are
    /// known to be valid are looked up: behind a proxy all clients have one address, and clients with a valid key must
    /// not be refused because of others.
    /// - Parameter wrong: The budget of wrong secrets.
    /// - Throws: The errors of ``check(_:)``, and `BudgetRefusal` if the budget is used up.
    package func check(
        _ text: String,
        wrong: Budget,
        of client: @autoclosure () -> BudgetCaller
    ) async throws -> APIKeyRecord? {
        guard Self.canBeKey(text) else { return nil }
        let hash = Self.hash(text)
        let isKnown = self.known.contains(hash)
        if !isKnown { try wrong.check(for: client()) }
        guard let key = try await self.store.key(hash: hash) else {
            self.known[hash] = nil
            // The caller learns that the key is wrong even if others have used up the budget meanwhile.
            try? wrong.spend(for: client())
            return nil
        }
        if !isKnown { self.known.insert(hash) }
        return try self.use(key)
    }

    private static func canBeKey(_ text: String) -> Bool { text.hasPrefix(Self.prefix) && text.utf8.count < 100 }

    private func use(_ key: APIKeyRecord) throws -> APIKeyRecord {
        let now = self.time.now
        if let end = key.expiresAt, now >= end {
            let message = "this API key expired at \(end.rfc3339): use another, or have an administrator extend it"
            throw RequestError(.unauthenticated, code: "key_expired", message: message, path: "authorization")
        }
        self.uses.note(key.id, at: now)
        return key
    }

    private static func hash(_ text: String) -> [UInt8] { Array(SHA256.hash(data: Data(text.utf8))) }
}

/// Writes the times of the last requests of API keys once a minute, so that no request waits for the write.
package final class KeyUsageWriter: Service {
    private static let pause: Duration = .seconds(60)

    private let store: any APIKeyStore
    private let logger: Logger
    /// The times of the last requests, by the ids of the keys, that were not written yet.
    private let pending = Mutex<[UUID: Timestamp]>([:])

    init(store: any APIKeyStore, logger: Logger) { (self.store, self.logger) = (store, logger) }

    func note(_ key: UUID, at now: Timestamp) { self.pending.withLock { $0[key] = now } }

    /// Returns the time of a key's last request that is not stored yet, or `nil` if there is none.
    package func latest(_ key: UUID) -> Timestamp? { self.pending.withLock { $0[key] } }

    /// Writes the times once a minute, and a last time at shutdown.
    package func run() async {
        await cancelWhenGracefulShutdown {
            while (try? await Task.sleep(for: Self.pause, clock: .continuous)) != nil { await self.flush() }
        }
        await self.flush()
    }

    /// Writes the pending times. If that fails, they are written with the next ones.
    package func flush() async {
        let uses = self.pending.withLock { pending in
            defer { pending = [:] }
            return pending
        }
        guard !uses.isEmpty else { return }
        do {
            try await self.store.setLastUses(uses)
        } catch {
            self.logger.warning("last uses of keys could not be written", metadata: ["error": "\(error)"])
            self.pending.withLock { $0.merge(uses) { later, _ in later } }
        }
    }
}
