import Fuzzing
import ProviderModel
import PushBridges

/// Fuzzes the reader of XMPP streams, which leaves out what is too much, or ends for it: its limits hold, pieces mean what the
/// whole means, and what is written is read as the same.
@main
enum XMLFuzz {
    private static let opening = XMPPStream.opening(content: "jabber:client", attributes: [:])

    static func main() {
        Fuzzer.run { input in
            let rest = Array(input.dropFirst())
            // An input is a whole stream, or what follows the header of one.
            let bytes = input.first.map { $0 & 1 == 0 } ?? true ? rest : Array(Self.opening.utf8) + rest
            // A stream that strangers send over leaves out what is too much.
            let truncates = input.first.map { $0 & 2 != 0 } ?? false
            let events = Self.events([bytes], truncates: truncates)
            precondition(events == Self.events(bytes.map { [$0] }, truncates: truncates), "not the same in pieces")
            // A stanza whose name is left out cannot be written.
            for case .stanza(let stanza) in events.values where !(truncates && stanza.name.isEmpty) {
                var count = 0
                Self.check(stanza, depth: 1, &count)
                Self.writeAgain(stanza)
            }
        }
    }

    private struct Run: Equatable {
        var values: [XMPPStreamEvent] = []
        /// Whether it ends with an error. Pieces may make it a different one, because a limit is noticed earlier.
        var fails = false
    }

    private static func events(_ pieces: [[UInt8]], truncates: Bool) -> Run {
        var parser = XMPPStreamParser(maximumStanza: 2048)
        parser.truncates = truncates
        var run = Run()
        do {
            for piece in pieces {
                try parser.receive(piece)
                while let event = try parser.next() { run.values.append(event) }
            }
        } catch {
            run.fails = true
            precondition((try? parser.next()) == nil, "goes on after an error")
        }
        return run
    }

    private static func check(_ element: XMLElement, depth: Int, _ count: inout Int) {
        count += 1
        precondition(depth <= XMPPStreamParser.maximumDepth && count <= XMPPStreamParser.maximumElements)
        for child in element.children { self.check(child, depth: depth + 1, &count) }
    }

    private static func writeAgain(_ stanza: XMLElement) {
        let written = self.opening + stanza.xml(in: "jabber:client")
        var parser = XMPPStreamParser(maximumStanza: 1 << 30)
        do {
            try parser.receive(Array(written.utf8))
            _ = try parser.next()
            let again = try parser.next()
            precondition(again == .stanza(stanza), "not the same again: \(written)")
        } catch {
            preconditionFailure("\(error): \(written)")
        }
    }
}
