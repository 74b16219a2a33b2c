import PushHTTP
import PushStore
import PushTypes

/// A session at a chat server in a response, without its password.
struct ChatSessionResponse: ResponseObject {
    let session: ChatSessionRecord
    /// Its condition; `nil` if it does not run.
    let running: ChatSessionCondition?

    private var status: ChatSessionStatus {
        switch self.session.state {
        // One that was added a moment ago does not run yet.
        case .active: self.running?.status ?? .waiting
        case .stopped: .stopped
        case .failed: .failed
        }
    }

    /// The failure that the running session knows: its record is written some seconds later.
    private var lastError: String? {
        guard self.session.state == .active, let running else { return self.session.lastError }
        return running.lastError
    }

    static let schemaName: String? = "ChatSession"
    static let members: [ResponseMember<Self>] = [
        .required("id", \.session.id), .required("user", \.session.user),
        .required("protocol", \.session.chatProtocol), .required("server", \.session.host),
        .required("port", \.session.port), .required("account", \.session.account),
        .required("settings", \.session.settings),
        .required("status", \.status, "attached: signed in, and nothing is pushed as the user is at another client."),
        .optional("lastError", \.lastError, "The last failure, until it is signed in again."),
        .required("createdAtMs", \.session.createdAt), .required("changedAtMs", \.session.changedAt),
    ]
}
