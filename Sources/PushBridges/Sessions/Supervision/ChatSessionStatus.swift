import PushHTTP

/// The place of a session between the wish for it and its end.
package enum ChatSessionStatus: String, Hashable, Sendable, CaseIterable {
    /// It waits for its turn, or for its next try.
    case waiting
    /// It connects and signs in.
    case signingIn
    /// It is signed in, and the user is away: messages are pushed.
    case signedIn
    /// It is signed in, and the user is at another client: nothing is pushed.
    case attached
    /// The server has refused it for good, or seems to: then it is tried seldom.
    case failed
    /// A person has stopped it.
    case stopped
}

extension ChatSessionStatus: JSONRepresentable {}
