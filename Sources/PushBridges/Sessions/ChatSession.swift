import Crypto
import CryptoExtras
import Foundation
package import NIOCore
package import ProviderModel
package import PushSupport
package import PushTypes

/// The state machine of one connection to a chat server, for a client that stays signed in. It performs no I/O.
///
/// Its inputs are received bytes and the time. Its outputs are actions, which are performed in order.
/// ``SessionSupervisor`` decides when to reconnect and which messages are pushed. A new protocol needs a conforming
/// type and a line in ``ChatProtocol/session``.
package protocol ChatSession: Sendable {
    /// The default port of the protocol's servers.
    static var port: Int { get }
    /// The members of a session's settings that the protocol defines, without those of ``ChatPushSettings``.
    static var settings: RequestObject { get }

    /// Returns the default server of an account, or `nil` if the account does not determine one.
    static func host(of account: String) -> String?

    /// Creates the session for a login, after checking the login.
    /// - Throws: ``RequestError`` that names the member at fault.
    init(_ login: ChatLogin, memory: ChatMemory) throws(RequestError)

    var serverName: String { get }
    /// A Boolean value that indicates whether TLS begins with the first byte. If not, ``ChatAction/startTLS`` begins
    /// it.
    var isSecureFromStart: Bool { get }
    /// The next time at which ``timePassed(at:)`` must be called, by the steady clock, or `nil` if none is pending.
    var nextDeadline: Timestamp? { get }
    /// The time until which reading is paused, because the server has sent too much, or `nil` if bytes may be read now.
    var pausedUntil: Timestamp? { get }
    /// The state to pass to the next connection, such as the time up to which messages were processed.
    var memory: ChatMemory { get }

    /// Starts the protocol on an open connection, on which TLS has begun if ``isSecureFromStart`` is `true`.
    mutating func opened(at now: ClockReading) -> [ChatAction]
    /// Continues the protocol once the TLS that ``ChatAction/startTLS`` has requested has begun.
    mutating func secured(at now: ClockReading) -> [ChatAction]
    mutating func received(_ bytes: ByteBuffer, at now: ClockReading) -> [ChatAction]
    /// Continues with the key that ``ChatAction/derive(_:)`` has requested.
    /// - Parameter key: The derived key. It is empty if the derivation failed.
    mutating func derived(_ key: [UInt8], at now: ClockReading) -> [ChatAction]
    mutating func timePassed(at now: ClockReading) -> [ChatAction]
    /// The failure to report if the server closes the connection now.
    var closing: ChatFailure { get }
    /// Ends the session, and returns the bytes to send before the connection is closed.
    mutating func leave() -> [UInt8]
}

extension ChatSession {
    package var pausedUntil: Timestamp? { nil }
    package var closing: ChatFailure { ChatFailure("the server closed the connection") }
}

/// The server, the account and the settings with which a session signs in.
package struct ChatLogin: Hashable, Sendable {
    package var host: String
    package var port: Int
    package var account: String
    package var password: String
    /// The settings of the session, as the API stores them: a JSON object with the members of the protocol.
    package var settings: JSONValue
    /// A client name that is stable and unique to the session, for protocols that require one.
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

    /// Returns the members of the settings for typed access.
    /// - Parameter object: The members that the protocol defines, besides those of ``ChatPushSettings``.
    /// - Throws: ``RequestError`` for an unknown member.
    func fields(_ object: RequestObject) throws(RequestError) -> JSONFields {
        guard case .object(let members) = self.settings else {
            throw RequestError(.invalid, code: "wrong_type", message: "it must be a JSON object", path: "settings")
        }
        let known = object.known.union(ChatPushSettings.object.known)
        return try JSONFields(members: members, path: "settings", known: known)
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

/// The state that a session passes from one connection to the next.
package struct ChatMemory: Hashable, Sendable {
    /// The time up to which messages have been processed. Earlier messages that the server replays are ignored.
    package var seenThrough: Timestamp
    /// The state with which the XMPP stream is resumed on a new connection, or `nil` if it cannot be resumed.
    package var resumption: StreamManagement?
    /// A Boolean value that indicates whether the server has proven with SCRAM that it knows the password. From then
    /// on, the session never sends the password itself.
    package var usesSCRAM: Bool

    package init(seenThrough: Timestamp, resumption: StreamManagement? = nil, usesSCRAM: Bool = false) {
        (self.seenThrough, self.resumption, self.usesSCRAM) = (seenThrough, resumption, usesSCRAM)
    }
}

/// An action that a ``ChatSession`` requests.
package enum ChatAction: Hashable, Sendable {
    case send([UInt8])
    /// Begins TLS on this connection. Bytes that were received before TLS are discarded.
    case startTLS
    /// Derives a key from the password, which takes milliseconds, and passes it to ``ChatSession/derived(_:at:)``.
    case derive(PBKDF2Derivation)
    /// Records that the server has accepted the account.
    case signedIn
    /// Records that a part of the session, such as joining a channel, does not work although the session is signed in.
    /// The string is a human-readable explanation, or `nil` once everything works.
    case trouble(String?)
    /// Pushes a message that has arrived for the user, unless the user is present at another client.
    case message(ChatMessage)
    /// Records whether the user is present at another client. While the value is `true`, no messages are pushed.
    case attached(Bool)
    /// Records that the user has written in a conversation from another client, so that its messages are not pushed.
    case wroteElsewhere(conversation: String)
    /// Closes the connection, because the session has failed.
    case failed(ChatFailure)

    static func send(text: String) -> ChatAction { .send(Array(text.utf8)) }
}

/// The failure of a chat session, which ends its connection.
package struct ChatFailure: Error, Hashable, Sendable {
    /// The human-readable explanation, which contains no secrets.
    package var reason: String
    /// A Boolean value that indicates whether any further attempt would fail in the same way.
    package var isFinal: Bool
    /// A Boolean value that indicates whether the failure may be a refusal of the account or the password. Several such
    /// failures in a row are treated as a refusal, unless the server has accepted the account before.
    package var mayBeRefusal: Bool

    package init(_ reason: String, isFinal: Bool = false, mayBeRefusal: Bool = false) {
        (self.reason, self.isFinal, self.mayBeRefusal) = (reason, isFinal, mayBeRefusal)
    }
}

/// The parameters of a key derivation from a password with PBKDF2 (RFC 8018 section 5.2).
package struct PBKDF2Derivation: Hashable, Sendable {
    package enum Hash: Hashable, Sendable {
        case sha1, sha256

        /// The length of the hash function's output, in bytes.
        package var length: Int { self == .sha1 ? 20 : 32 }
    }

    package var hash: Hash
    package var password: String
    package var salt: [UInt8]
    package var rounds: Int
}

extension PBKDF2Derivation {
    /// Derives the key. Two rounds take about a microsecond.
    /// - Returns: The key, as long as the hash function's output. It is empty if it cannot be derived.
    package func key() -> [UInt8] {
        let key = try? KDF.Insecure.PBKDF2.deriveKey(
            from: Data(self.password.utf8),
            salt: self.salt,
            using: self.hash == .sha1 ? .insecureSHA1 : .sha256,
            outputByteCount: self.hash.length,
            unsafeUncheckedRounds: self.rounds
        )
        return key?.withUnsafeBytes { Array($0) } ?? []
    }
}

enum SASLPlain {
    /// Returns the client's only message of the exchange, in base64.
    static func response(account: String, password: String) -> String {
        Data("\0\(account)\0\(password)".utf8).base64EncodedString()
    }
}
