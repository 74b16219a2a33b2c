import Crypto
import Foundation
package import PushStore
package import PushSupport

/// Issues and checks API keys: `mk_` and 32 random bytes in base64url.
///
/// The store keeps the SHA-256 of a key. A slow hash would gain nothing: 256 random bits cannot be guessed.
package struct APIKeys: Sendable {
    package static let prefix = "mk_"

    private let store: any APIKeyStore
    private let time: any TimeSource

    package init(store: any APIKeyStore, time: any TimeSource) { (self.store, self.time) = (store, time) }

    /// Returns the text of a new key, which is not valid yet.
    package static func newText() -> String { Self.prefix + RandomText.make() }

    /// Returns `true` if the text has the form of a key.
    package static func isKey(_ text: String) -> Bool {
        let secret = text.utf8.dropFirst(Self.prefix.utf8.count)
        return text.hasPrefix(Self.prefix) && secret.count == (RandomText.length * 4 + 2) / 3
            && secret.allSatisfy { byte in
                (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte) || byte == 45
                    || byte == 95
            }
    }

    /// Stores a new key. Its text is known only now.
    package func issue(
        name: String,
        scopes: Set<APIScope>,
        text: String = Self.newText()
    ) async throws -> (key: APIKeyRecord, text: String) {
        let key = APIKeyRecord(id: UUID(), name: name, scopes: scopes, createdAt: self.time.now)
        try await self.store.addKey(key, hash: Self.hash(text))
        return (key, text)
    }

    /// `true` while no key is stored.
    package var isEmpty: Bool { get async throws { try await self.store.keys().isEmpty } }

    /// Returns the key with this text; `nil` if there is none.
    package func check(_ text: String) async throws -> APIKeyRecord? {
        guard text.hasPrefix(Self.prefix), text.utf8.count < 100 else { return nil }
        return try await self.store.key(hash: Self.hash(text))
    }

    private static func hash(_ text: String) -> [UInt8] {
        Array(SHA256.hash(data: Data(text.utf8)))
    }
}
