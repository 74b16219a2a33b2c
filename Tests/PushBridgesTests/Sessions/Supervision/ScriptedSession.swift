import NIOCore
import PushSupport
import PushTypes

@testable import PushBridges

/// A session whose server says what happens: `in`, `message NAME`, `line NAME`, `attached`, `detached`, `wrote NAME`,
/// `trouble NAME`, `fine`, `derive`, `ask`, `lost`, `refused`, one after the other.
struct ScriptedSession: ChatSession {
    static let port = 1
    static let settings = RequestObject()

    static func host(of account: String) -> String? { nil }

    private var seenThrough = Timestamp.start
    var nextDeadline: Timestamp?

    init() {}

    init(_ login: ChatLogin, memory: ChatMemory) throws(RequestError) { self.seenThrough = memory.seenThrough }

    var serverName: String { "localhost" }
    var isSecureFromStart: Bool { true }
    var memory: ChatMemory { ChatMemory(seenThrough: self.seenThrough) }

    mutating func opened(at now: ClockReading) -> [ChatAction] { [.send(Array("hello".utf8))] }
    mutating func secured(at now: ClockReading) -> [ChatAction] { [] }
    mutating func derived(_ key: [UInt8], at now: ClockReading) -> [ChatAction] { [.send(key)] }
    mutating func timePassed(at now: ClockReading) -> [ChatAction] { [] }
    mutating func leave() -> [UInt8] { Array("bye".utf8) }

    mutating func received(_ bytes: ByteBuffer, at now: ClockReading) -> [ChatAction] {
        let words = String(buffer: bytes).split(separator: " ").map(String.init)
        let name = words.last ?? ""
        switch words.first {
        case "in": return [.signedIn]
        case "trouble": return [.trouble(name)]
        case "fine": return [.trouble(nil)]
        case "derive": return [.derive(PBKDF2Derivation(hash: .sha1, password: "tea", salt: [1], rounds: 1))]
        // Three questions in one piece.
        case "ask": return [.send([1]), .send([2]), .send([3])]
        case "attached": return [.attached(true)]
        case "detached": return [.attached(false)]
        case "wrote": return [.wroteElsewhere(conversation: name)]
        case "lost": return [.failed(ChatFailure("lost"))]
        case "refused": return [.failed(ChatFailure("refused", isFinal: true))]
        case "message", "line", "highlight":
            self.seenThrough = now.wall
            let isDirect = words.first == "message"
            let message = ChatMessage(
                sender: "bob",
                conversation: name,
                isDirect: isDirect,
                isHighlight: words.first == "highlight",
                text: "tea?",
                at: now.wall
            )
            return [.message(message)]
        default: return []
        }
    }
}
