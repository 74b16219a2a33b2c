import Foundation
package import NIOCore
package import PushStore
package import PushSupport
package import PushTypes

/// A protocol of chat servers, from the side of a client that stays signed in: a machine without I/O, for one connection.
///
/// Bytes and the time go in, actions come out in the order in which they are to be carried out. ``SessionSupervisor`` connects
/// it again and decides about pushes. Another protocol is one type that conforms to this, and a line in ``ChatProtocol/session``.
package protocol ChatSession: Sendable {
    /// The port where a session names no other.
    static var port: Int { get }
    /// The members of its settings, besides those of ``ChatPushSettings``.
    static var members: Set<String> { get }

    /// Returns the server of an account, where a session names no other; `nil` if an account does not tell it.
    static func host(of account: String) -> String?

    /// Checks what a session signs in with.
    /// - Throws: ``RequestError`` that names the member at fault.
    init(_ login: ChatLogin, memory: ChatMemory) throws(RequestError)

    /// The name that the server's certificate must have.
    var serverName: String { get }
    /// `true` if TLS begins with the first byte, `false` if ``ChatAction/startTLS`` begins it.
    var isSecureFromStart: Bool { get }
    /// The time at which ``timePassed(at:)`` must be called, by the steady clock; `nil` for none.
    var nextDeadline: Timestamp? { get }
    /// The time until which nothing more is read, as the server has sent so much; `nil` if it may be heard now.
    var pausedUntil: Timestamp? { get }
    /// The state that the next connection takes over.
    var memory: ChatMemory { get }

    /// Starts on an open connection, which has TLS if ``isSecureFromStart``.
    mutating func opened(at now: ClockReading) -> [ChatAction]
    /// Continues after ``ChatAction/startTLS``.
    mutating func secured(at now: ClockReading) -> [ChatAction]
    mutating func received(_ bytes: ByteBuffer, at now: ClockReading) -> [ChatAction]
    /// Continues after ``ChatAction/derive(_:)``.
    /// - Parameter key: The derived key; empty if that failed.
    mutating func derived(_ key: [UInt8], at now: ClockReading) -> [ChatAction]
    mutating func timePassed(at now: ClockReading) -> [ChatAction]
    /// The failure that the end of the connection means now.
    var closing: ChatFailure { get }
    /// Ends the session.
    /// - Returns: The last bytes before the connection is closed.
    mutating func leave() -> [UInt8]
}

extension ChatSession {
    package var pausedUntil: Timestamp? { nil }
    package var closing: ChatFailure { ChatFailure("the server closed the connection") }
}

/// The server and the account of a session.
package struct ChatLogin: Hashable, Sendable {
    package var host: String
    package var port: Int
    package var account: String
    package var password: String
    /// The settings of the protocol.
    package var settings: JSONValue
    /// A name for this client, stable and different in each session.
    package var clientName: String

    package init(
        host: String,
        port: Int,
        account: String,
        password: String,
        settings: JSONValue = .object([:]),
        clientName: String = "martlet"
    ) {
        (self.host, self.port, self.account, self.password) = (host, port, account, password)
        (self.settings, self.clientName) = (settings, clientName)
    }

    /// Returns access to the settings.
    /// - Parameter known: The members of the protocol.
    /// - Throws: ``RequestError`` for another member.
    func fields(_ known: Set<String>) throws(RequestError) -> JSONFields {
        guard case .object(let members) = self.settings else {
            throw RequestError(.invalid, code: "wrong_type", message: "it must be a JSON object", path: "settings")
        }
        return try JSONFields(members: members, path: "settings", known: known.union(ChatPushSettings.members))
    }

    package init(_ session: ChatSessionRecord) {
        self.init(
            host: session.host,
            port: session.port,
            account: session.account,
            password: session.password,
            settings: session.settings,
            clientName: "martlet-\(session.id.uuidString.prefix(8).lowercased())"
        )
    }
}

/// The state that outlives a connection.
package struct ChatMemory: Hashable, Sendable {
    /// The time through which messages were dealt with. Replayed ones from before are not messages any more.
    package var seenThrough: Timestamp
    /// The state with which a stream is resumed; `nil` for none.
    package var resumption: StreamManagement?
    /// `true` once the server has proven with SCRAM that it knows the password. From then on it never gets the password itself.
    package var usesSCRAM: Bool

    package init(seenThrough: Timestamp, resumption: StreamManagement? = nil, usesSCRAM: Bool = false) {
        (self.seenThrough, self.resumption, self.usesSCRAM) = (seenThrough, resumption, usesSCRAM)
    }
}

/// An action that a ``ChatSession`` wants.
package enum ChatAction: Hashable, Sendable {
    case send([UInt8])
    /// Begin TLS on this connection. Bytes that were received before are not part of it.
    case startTLS
    /// Derive a key from the password, which takes milliseconds, and pass it to ``ChatSession/derived(_:at:)``.
    case derive(PBKDF2Derivation)
    /// The server has accepted the account.
    case signedIn
    /// A part of the session does not work, though it is signed in, as people read it; `nil` once all of it works.
    case trouble(String?)
    /// A message for the user.
    case message(ChatMessage)
    /// The user is at another client now, or at none.
    case attached(Bool)
    /// The user has written in a conversation, with another client.
    case wroteElsewhere(conversation: String)
    /// The session has failed: close the connection.
    case failed(ChatFailure)

    /// An action that sends text.
    static func send(text: String) -> ChatAction { .send(Array(text.utf8)) }
}

/// The failure of a session.
package struct ChatFailure: Error, Hashable, Sendable {
    /// The explanation for people. It has no secrets.
    package var reason: String
    /// `true` if another try would end the same way.
    package var isFinal: Bool
    /// `true` if it may be a refusal of account or password: several in a row are one, until the server has accepted them once.
    package var mayBeRefusal: Bool

    package init(_ reason: String, isFinal: Bool = false, mayBeRefusal: Bool = false) {
        (self.reason, self.isFinal, self.mayBeRefusal) = (reason, isFinal, mayBeRefusal)
    }
}
