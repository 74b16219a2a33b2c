import Crypto
package import Foundation
package import ProviderModel
package import PushStore
package import PushSupport
package import PushTypes
import Synchronization

/// Creates and checks the signed URLs of files, which require no API key.
///
/// A signature is the HMAC-SHA256 of the file, its issue and the expiration time of the URL, with a key from the store.
package final class FileAddresses: Sendable {
    /// A signed URL, and the time at which it expires.
    package struct Address: Hashable, Sendable {
        /// The URL, relative to the URL of the provider.
        package let text: String
        package let expiresAt: Timestamp
    }

    /// The result of checking a signed URL.
    package enum Check: Hashable, Sendable {
        case valid
        case invalid
        /// The result for a URL whose signature is valid, but which has expired.
        case expired
    }

    /// The time for which the signed URLs of covers stay the same, in seconds. They are contained in the catalogue,
    /// which apps cache until it changes.
    private static let coverPeriod: Int64 = 30 * 86_400

    private let store: any FileStore
    private let lifetime: Duration
    private let time: any TimeSource
    private let key = Mutex<SymmetricKey?>(nil)

    package init(store: any FileStore, settings: PublishingSettings, time: any TimeSource) {
        (self.store, self.lifetime, self.time) = (store, settings.addressLifetime, time)
    }

    /// Returns the signed URL of a rendition, the file of an issue for one screen size. The URL is valid for
    /// ``PublishingSettings/addressLifetime``.
    package func download(_ file: ContentHash, issue: UUID) async throws -> Address {
        let end = self.time.now.advanced(by: self.lifetime).seconds
        return try await self.address(file, issue: issue, end: end)
    }

    /// Returns the signed URL of a cover, which is valid for 30 to 60 days.
    package func cover(_ file: ContentHash, issue: UUID) async throws -> Address {
        try await self.address(file, issue: issue, end: (self.coverEpoch + 2) * Self.coverPeriod)
    }

    /// The number of the current 30-day period, during which the URLs of covers stay the same.
    package var coverEpoch: Int64 { max(0, self.time.now.seconds) / Self.coverPeriod }

    /// Checks the parts of a signed URL in constant time. `expires` is the expiration in seconds since 1970.
    package func check(_ file: ContentHash, issue: UUID, expires: Int64, signature: String) async throws -> Check {
        guard let code = Base64URL.decode(signature) else { return .invalid }
        let key = try await self.loadedKey()
        let isValid = HMAC<SHA256>.isValidAuthenticationCode(
            code,
            authenticating: Self.message(file, issue, expires),
            using: key
        )
        guard isValid else { return .invalid }
        return Timestamp(seconds: expires) > self.time.now ? .valid : .expired
    }

    private func address(_ file: ContentHash, issue: UUID, end: Int64) async throws -> Address {
        let key = try await self.loadedKey()
        let code = HMAC<SHA256>.authenticationCode(for: Self.message(file, issue, end), using: key)
        let query = "issue=\(issue.uuidString)&expires=\(end)&signature=\(Base64URL.encode(code))"
        return Address(text: "/v1/files/\(file.hex)?\(query)", expiresAt: Timestamp(seconds: end))
    }

    private static func message(_ file: ContentHash, _ issue: UUID, _ expires: Int64) -> Data {
        Data("martlet/1/file/\(file.hex)/\(issue.uuidString)/\(expires)".utf8)
    }

    private func loadedKey() async throws -> SymmetricKey {
        if let key = self.key.withLock({ $0 }) { return key }
        let key = SymmetricKey(data: Data(try await self.store.addressKey().utf8))
        self.key.withLock { $0 = key }
        return key
    }
}
