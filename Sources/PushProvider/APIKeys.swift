import Crypto
import Foundation
package import PushProtocol
package import PushStore

/// Issues and checks API keys: `mk_` and 32 random bytes in base64url.
///
/// The store keeps SHA-256 of a key. A slow hash would gain nothing: nobody can guess 256 random bits.
package struct APIKeys: Sendable {
    package static let prefix = "mk_"

    private let store: any APIKeyStore
    private let time: any TimeSource

    package init(store: any APIKeyStore, time: any TimeSource) {
        self.store = store
        self.time = time
    }

    /// A new key. This is the only time that its text is known.
    /// - Parameter keep: called with the text before the key counts; what it throws keeps it from counting.
    package func issue(
        name: String,
        scopes: Set<APIScope>,
        keep: (String) throws -> Void = { _ in }
    ) async throws -> (key: APIKeyRecord, text: String) {
        var generator = SystemRandomNumberGenerator()
        let secret = Data((0..<32).map { _ in UInt8.random(in: 0...255, using: &generator) })
        let text =
            Self.prefix
            + secret.base64EncodedString()
            .replacingOccurrences(of: "+", with: "-")
            .replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
        let key = APIKeyRecord(id: UUID(), name: name, scopes: scopes, createdAt: self.time.now)
        try keep(text)
        try await self.store.addKey(key, hash: Self.hash(text))
        return (key, text)
    }

    /// An admin key, if there is no key at all yet.
    /// - Parameter keep: as for ``issue(name:scopes:keep:)``.
    package func issueFirst(keep: (String) throws -> Void = { _ in }) async throws -> String? {
        guard try await self.store.keys().isEmpty else { return nil }
        return try await self.issue(name: "first admin key", scopes: [.admin], keep: keep).text
    }

    /// The key with this text, or `nil`.
    package func check(_ text: String) async throws -> APIKeyRecord? {
        guard text.hasPrefix(Self.prefix), text.utf8.count < 100 else { return nil }
        return try await self.store.key(hash: Self.hash(text))
    }

    private static func hash(_ text: String) -> [UInt8] {
        Array(SHA256.hash(data: Data(text.utf8)))
    }
}
