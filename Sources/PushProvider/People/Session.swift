import Crypto
package import Foundation
package import ProviderModel
package import PushSupport
import PushTypes

/// A session that was valid when it was read from the store.
package struct Session: Hashable, Sendable {
    package let id: UUID
    /// The caller of the requests in this session, with its current rights.
    package let caller: APICaller
    /// The role of the user, or `nil` for an API key.
    package let role: PersonRole?
    /// The CSRF token, which every form of this session has to send.
    package let csrfToken: String
    /// The language that the user has chosen, or `nil` if none was chosen.
    package let language: String?

    init(_ stored: StoredSession, token: String) {
        self.id = stored.record.id
        self.csrfToken = SessionToken.csrf(of: token)
        switch stored.holder {
        case .person(let person):
            self.caller = APICaller(person, session: stored.record.id)
            (self.role, self.language) = (person.role, person.language)
        case .key(let key):
            self.caller = APICaller(key, session: stored.record.id)
            (self.role, self.language) = (nil, nil)
        }
    }

    /// Returns whether a text is the ``csrfToken``. The comparison takes constant time.
    package func accepts(csrfToken text: String) -> Bool {
        SymmetricKey(data: Data(text.utf8)) == SymmetricKey(data: Data(self.csrfToken.utf8))
    }

    /// The user or API key that has signed in.
    package var holder: SessionHolder { SessionHolder(self.caller) }
}

/// A session that has just begun, with the token for the browser's cookie.
package struct SessionGrant: Sendable {
    /// The token, 43 characters of base64url. The store keeps only its hash.
    package let token: String
    package let session: Session
}

/// The tokens of sessions and links: 32 random bytes in base64url. The store keeps their SHA-256.
///
/// A slow hash would gain nothing: 256 random bits cannot be guessed.
enum SessionToken {
    static func make() -> String { RandomText.make() }

    static func hash(_ text: String) -> [UInt8] { Array(SHA256.hash(data: Data(text.utf8))) }

    /// Returns whether a text has the length of a token.
    static func isToken(_ text: String) -> Bool { text.utf8.count == RandomText.length }

    /// Returns the CSRF token of a session. It is derived from the session token by a one-way function.
    static func csrf(of token: String) -> String {
        let key = SymmetricKey(data: Data(token.utf8))
        return Base64URL.encode(HMAC<SHA256>.authenticationCode(for: Data("martlet/1/csrf".utf8), using: key))
    }
}
