import Fuzzing
import NIOCore
import ProviderModel
import PushBridges
import PushSupport
import PushTypes

/// Fuzzes what chat servers send to a session: pieces mean what the whole means, nothing is sent that would be another line or
/// stanza, and messages have bounds.
@main
enum ChatSessionFuzz {
    private static let now = ClockReading(Timestamp(seconds: 1_700_000_000))

    static func main() {
        Fuzzer.run { input in
            guard let first = input.first else { return }
            let bytes = Array(input.dropFirst())
            // An input is of one protocol, before the sign-in or after it.
            let session = first & 1 == 0 ? Self.irc(isSignedIn: first & 2 == 0) : Self.xmpp(isSignedIn: first & 2 == 0)
            guard let session else { preconditionFailure("the settings are valid") }
            let whole = Self.actions(session, [bytes])
            let pieces = Self.actions(session, bytes.map { [$0] })
            // What is sent may hold a nonce.
            precondition(whole.filter(Self.isNoText) == pieces.filter(Self.isNoText), "not the same in pieces")
            for action in whole { Self.check(action, isIRC: first & 1 == 0) }
        }
    }

    private static func irc(isSignedIn: Bool) -> (any ChatSession)? {
        let login = ChatLogin(host: "irc.example.org", port: 6697, account: "ada", password: "tea")
        var session = try? IRCSession(login, memory: ChatMemory(seenThrough: self.now.wall))
        _ = session?.opened(at: self.now)
        guard isSignedIn else { return session }
        let lines =
            ":s CAP * LS :sasl\r\n:s CAP * ACK :sasl\r\nAUTHENTICATE +\r\n:s 903 ada :ok\r\n:s 001 ada :Welcome\r\n"
        _ = session?.received(ByteBuffer(string: lines), at: self.now)
        return session
    }

    private static func xmpp(isSignedIn: Bool) -> (any ChatSession)? {
        let settings = JSONValue.object(["tls": .string("direct")])
        let login = ChatLogin(host: "x", port: 5223, account: "ada@example.org", password: "tea", settings: settings)
        var session = try? XMPPSession(login, memory: ChatMemory(seenThrough: self.now.wall))
        _ = session?.opened(at: self.now)
        let header =
            "<stream:stream xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams' version='1.0'>"
        _ = session?.received(ByteBuffer(string: header), at: self.now)
        guard isSignedIn else { return session }
        let (sasl, bind) = ("urn:ietf:params:xml:ns:xmpp-sasl", "urn:ietf:params:xml:ns:xmpp-bind")
        for part in [
            "<stream:features><mechanisms xmlns='\(sasl)'><mechanism>PLAIN</mechanism></mechanisms></stream:features>",
            "<success xmlns='\(sasl)'/>",
            "\(header)<stream:features><bind xmlns='\(bind)'/><sm xmlns='urn:xmpp:sm:3'/></stream:features>",
            "<iq type='result' id='bind'><bind xmlns='\(bind)'><jid>ada@example.org/m</jid></bind></iq>",
        ] {
            _ = session?.received(ByteBuffer(string: part), at: self.now)
        }
        return session
    }

    private static func actions(_ start: any ChatSession, _ pieces: [[UInt8]]) -> [ChatAction] {
        var session = start
        return pieces.flatMap { session.received(ByteBuffer(bytes: $0), at: self.now) }
    }

    private static func isNoText(_ action: ChatAction) -> Bool {
        if case .send = action { false } else { true }
    }

    private static func check(_ action: ChatAction, isIRC: Bool) {
        switch action {
        case .message(let message):
            precondition(!message.sender.isEmpty && message.sender.utf8.count <= 256)
            precondition(message.conversation.utf8.count <= 256 && (message.text?.utf8.count ?? 0) <= 1024)
        case .send(let bytes) where isIRC:
            precondition(bytes.suffix(2) == [13, 10] && !bytes.contains(0))
        default: break
        }
    }
}
