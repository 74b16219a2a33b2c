package import Foundation
import PushStore
package import PushSupport
import Synchronization

/// A session of the dashboard.
package struct Session: Sendable {
    package let id: UUID
    /// The maker of the session's requests.
    package let caller: APICaller
    /// The token of the session's forms.
    package let csrfToken: String
    /// The language that the person chose; `nil` for none.
    package let language: String?

    /// Returns `true` if a form has the token of the session.
    package func accepts(csrfToken text: String) -> Bool { text == self.csrfToken }
}

/// A session that has begun, and the text of its cookie.
package struct SessionGrant: Sendable {
    package let token: String
    package let session: Session
}

/// Signs in with API keys. The sessions end with the process.
package final class SignInService: Sendable {
    private let keys: APIKeys
    private let sessions = Mutex<[String: Session]>([:])

    package init(keys: APIKeys) {
        self.keys = keys
    }

    package func signIn(name: String, password: String, address: String, agent: String) async throws -> SessionGrant {
        throw Self.refused
    }

    package func signIn(key: String, address: String, agent: String) async throws -> SessionGrant {
        guard let key = try await self.keys.check(key) else { throw Self.refused }
        let caller = APICaller(key)
        let session = Session(id: UUID(), caller: caller, csrfToken: UUID().uuidString, language: nil)
        let token = UUID().uuidString
        self.sessions.withLock { $0[token] = session }
        return SessionGrant(token: token, session: session)
    }

    package func redeem(
        link: String,
        name: String?,
        password: String,
        address: String,
        agent: String
    ) async throws -> SessionGrant {
        throw Self.refused
    }

    package func session(token: String) async throws -> Session? { self.sessions.withLock { $0[token] } }

    package func signOut(_ session: Session) async throws {
        self.sessions.withLock { sessions in sessions = sessions.filter { $0.value.id != session.id } }
    }

    private static let refused = RequestError(.forbidden, code: "forbidden", message: "this does not sign in")
}
