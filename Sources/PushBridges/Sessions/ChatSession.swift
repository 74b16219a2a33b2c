import Crypto
import CryptoExtras
import Foundation
package import NIOCore
package import ProviderModel
package import PushSupport
package import PushTypes

/// The state machine of one connection to a chat server, for a client that stays signed in. It has no I/O.
///
/// Its inputs are bytes and the time. Its outputs are actions, in the order in which they are to be carried out.
/// ``SessionSupervisor`` decides when to connect again and which messages are pushed. To add a protocol, add a type
/// that conforms to this one and a line in ``ChatProtocol/session``.
package protocol ChatSession: Sendable {
    /// The default port.
    static var port: Int { get }
    /// The settings, without the members of ``ChatPushSettings``.
    static var settings: RequestObject { get }

    /// Returns the default server of an account, or `nil` if the account does not determine one.
    static func host(of account: String) -> String?

    /// Creates the session of a login, which is checked.
    /// - Throws: ``RequestError`` that names the member at fault.
    init(_ login: ChatLogin, memory: ChatMemory) throws(RequestError)

    /// The name that the server's certificate must be for.
    var serverName: String { get }
    /// Indicates whether TLS begins with the first byte. Otherwise ``ChatAction/startTLS`` begins it.
    var isSecureFromStart: Bool { get }
    /// The time at which ``timePassed(at:)`` must be called, by the steady clock, or `nil` for none.
    var nextDeadline: Timestamp? { get }
    /// The time until which no more bytes are read, because the server has sent too much. It is `nil` if bytes may be
    /// read now.
    var pausedUntil: Timestamp? { get }
    /// The state that the next connection takes over.
    var memory: ChatMemory { get }

    /// Starts on an open connection, which has TLS if ``isSecureFromStart``.
    mutating func opened(at now: ClockReading) -> [ChatAction]
    /// Continues after ``ChatAction/startTLS``.
    mutating func secured(at now: ClockReading) -> [ChatAction]
    mutating func received(_ bytes: ByteBuffer, at now: ClockReading) -> [ChatAction]
    /// Continues after ``ChatAction/derive(_:)``.
    /// - Parameter key: The derived key. It is empty if the derivation failed.
    mutating func derived(_ key: [UInt8], at now: ClockReading) -> [ChatAction]
    mutating func timePassed(at now: ClockReading) -> [ChatAction]
    /// The failure to report if the server closes the connection now.
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
    /// The settings of the chat protocol.
    package var settings: JSONValue
    /// A name for this client that is stable and unique to the session.
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
    /// - Parameter object: The settings of the protocol.
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

/// The state that outlives a connection.
package struct ChatMemory: Hashable, Sendable {
    /// The time up to which messages have been processed. Replayed messages from before it are ignored.
    package var seenThrough: Timestamp
    /// The state with which a stream is resumed, or `nil` for none.
    package var resumption: StreamManagement?
    /// Indicates whether the server has proven with SCRAM that it knows the password. From then on it never gets the
    /// password itself.
    package var usesSCRAM: Bool

    package init(seenThrough: Timestamp, resumption: StreamManagement? = nil, usesSCRAM: Bool = false) {
        (self.seenThrough, self.resumption, self.usesSCRAM) = (seenThrough, resumption, usesSCRAM)
    }
}

/// An action that a ``ChatSession`` requests.
package enum ChatAction: Hashable, Sendable {
    case send([UInt8])
    /// Begin TLS on this connection. Bytes that were received before are discarded.
    case startTLS
    /// Derive a key from the password, which takes milliseconds, and pass it to ``ChatSession/derived(_:at:)``.
    case derive(PBKDF2Derivation)
    /// The server has accepted the account.
    case signedIn
    /// A part of the session does not work although it is signed in. The text is a human-readable explanation, and is
    /// `nil` once all of it works.
    case trouble(String?)
    /// A message for the user has arrived.
    case message(ChatMessage)
    /// The user is now present at another client, or at none.
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
    /// The human-readable explanation. It contains no secrets.
    package var reason: String
    /// Indicates whether another attempt would fail in the same way.
    package var isFinal: Bool
    /// Indicates whether the failure may be a refusal of account or password. Several such failures in a row count as a
    /// refusal, until the server has accepted the account once.
    package var mayBeRefusal: Bool

    package init(_ reason: String, isFinal: Bool = false, mayBeRefusal: Bool = false) {
        (self.reason, self.isFinal, self.mayBeRefusal) = (reason, isFinal, mayBeRefusal)
    }
}

/// A key that is derived from a password with PBKDF2 (RFC 8018 section 5.2).
package struct PBKDF2Derivation: Hashable, Sendable {
    package enum Hash: Hashable, Sendable {
        case sha1, sha256

        /// The length of a hash, in bytes.
        package var length: Int { self == .sha1 ? 20 : 32 }
    }

    package var hash: Hash
    package var password: String
    package var salt: [UInt8]
    package var rounds: Int
}

extension PBKDF2Derivation {
    /// Derives the key, which takes about a microsecond for two rounds. The key has the length of its hash.
    /// - Returns: The key. It is empty if it cannot be derived.
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

/// SASL PLAIN (RFC 4616).
enum SASLPlain {
    /// Returns the client's only message, in base64.
    static func response(account: String, password: String) -> String {
        Data("\0\(account)\0\(password)".utf8).base64EncodedString()
    }
}
