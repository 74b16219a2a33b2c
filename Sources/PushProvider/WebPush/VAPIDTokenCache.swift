import Foundation
import ProviderModel
import PushSupport
import PushTypes
import PushWire

/// A cache of VAPID tokens, with which apps identify themselves to push services. It contains one token for each key
/// and origin, which is used for half a day.
///
/// Push services limit how often the token may change (reference 9.1).
final class VAPIDTokenCache: Sendable {
    /// The time for which a token is used, and the time until it expires.
    private static let (reuse, validity): (Duration, Duration) = (.seconds(12 * 3600), .seconds(13 * 3600))

    private struct Key: Hashable {
        var id: UUID
        var origin: WebOrigin
        var contact: String
    }

    private let known = SharedCache<Key, (text: String, signedAt: Timestamp)>(maximum: 4096)

    /// Returns the value of the `authorization` header.
    /// - Throws: ``Unusable`` if the stored key is invalid.
    func authorization(_ record: VAPIDKeyRecord, for origin: WebOrigin, now: Timestamp) throws -> String {
        let key = Key(id: record.id, origin: origin, contact: record.contact)
        if let known = self.known[key], known.signedAt <= now, now < known.signedAt.advanced(by: Self.reuse) {
            return known.text
        }
        guard let signer = VAPIDKey(privateKey: record.privateKey) else { throw Unusable() }
        let text = try signer.authorization(
            for: origin,
            contact: record.contact,
            expires: now.advanced(by: Self.validity)
        )
        self.known[key] = (text, now)
        return text
    }

    struct Unusable: Error {}
}
