import Testing

@testable import PushBridges

/// What strangers send through a server ends no stream.
@Suite struct XMPPStreamTruncationTests {
    private static let limit = 16_384
    private static let accept = "jabber:component:accept"
    private static let start = "<message to='push.example.org'"

    /// Returns a parser within a stream.
    private static func parser(
        truncates: Bool = true,
        end: Int = XMPPStreamParser.maximumTruncated
    ) throws -> XMPPStreamParser {
        var parser = XMPPStreamParser(maximumStanza: Self.limit, maximumTruncated: end)
        try parser.receive(Array(XMPPStream.opening(content: Self.accept, attributes: [:]).utf8))
        guard case .streamStart? = try parser.next() else { throw CancellationError() }
        parser.truncates = truncates
        return parser
    }

    private static func stanzas(_ text: String, _ parser: XMPPStreamParser, piece: Int = .max) throws -> [XMLElement] {
        var parser = parser
        var rest = Array(text.utf8)[...]
        var stanzas: [XMLElement] = []
        while !rest.isEmpty {
            try parser.receive(rest.prefix(piece))
            rest = rest.dropFirst(piece)
            while case .stanza(let stanza)? = try parser.next() { stanzas.append(stanza) }
        }
        return stanzas
    }

    @Test(arguments: PoisonedStanza.allCases, [1, 13, Int.max])
    func theContentOfAPoisonedStanzaIsLeftOut(poisoned: PoisonedStanza, piece: Int) throws {
        let text = poisoned.text(Self.start, beyond: Self.limit)
        let next = "<iq type='get'><ping xmlns='urn:xmpp:ping'/></iq>"
        let stanzas = try Self.stanzas(text + next + text, Self.parser(), piece: piece)
        #expect(stanzas.map(\.name) == ["message", "iq", "message"])
        #expect(stanzas.allSatisfy { $0.namespace == Self.accept })
        #expect(stanzas.first?.children.isEmpty == true && stanzas.first?.text.isEmpty == true)
        #expect(stanzas.first == stanzas.last)
        let ping = XMLElement("ping", namespace: "urn:xmpp:ping")
        let iq = XMLElement("iq", namespace: Self.accept, attributes: ["type": "get"], children: [ping])
        #expect(stanzas.dropFirst().first == iq)
    }

    @Test(arguments: PoisonedStanza.allCases) func withoutStrangersItEndsTheStream(poisoned: PoisonedStanza) throws {
        let text = poisoned.text(Self.start, beyond: Self.limit)
        let parser = try Self.parser(truncates: false)
        #expect(throws: XMPPStreamError.self) { try Self.stanzas(text, parser) }
    }

    @Test(arguments: [1, 13, Int.max]) func theNameOfAStanzaMayBeTooLong(piece: Int) throws {
        let name = String(repeating: "a", count: 257)
        let stanzas = try Self.stanzas("<\(name)><x/></\(name)><y/>", Self.parser(), piece: piece)
        #expect(stanzas.map(\.name) == ["", "y"])
    }

    /// The attributes of a stanza that is left out later say whom it is from.
    @Test func theAttributesOfTheStanzaStay() throws {
        let stanzas = try Self.stanzas(PoisonedStanza.longText.text(Self.start, beyond: Self.limit), Self.parser())
        #expect(stanzas.first?.attributes == ["to": "push.example.org"])
    }

    /// The declarations of a stanza that is left out are not in force after it.
    @Test func nothingIsDeclaredByWhatIsLeftOut() throws {
        let prefixes = (1...65).map { " xmlns:p\($0)='p'" }.joined()
        let text = "<message xmlns='x'\(prefixes)/><y/><message><x xmlns='x'\(prefixes)/></message><z/>"
        #expect(try Self.stanzas(text, Self.parser()).allSatisfy { $0.namespace == Self.accept })
        #expect(try Self.stanzas("<message\(prefixes)/><p1:y/>", Self.parser()).last?.namespace == "")
    }

    @Test(arguments: [
        "<message></iq>", "<message><x a='<'/></message>", "<message>\u{1}</message>", "<message>&x;</message>",
    ])
    func whatIsNotWellFormedStillEndsTheStream(text: String) throws {
        let parser = try Self.parser()
        #expect(throws: XMPPStreamError.self) { try Self.stanzas(text, parser) }
    }

    @Test(arguments: [">", "><x>", " a='", "><![CDATA["])
    func aStanzaWithoutEndEndsTheStream(beginning: String) throws {
        let end = 50 * Self.limit
        var parser = try Self.parser(end: end)
        try parser.receive(Array((Self.start + beginning).utf8))
        // More than could wait: what is left out is not kept.
        let piece = Array(String(repeating: "x", count: 1024).utf8)
        for _ in 0..<(end / 1024 - 1) {
            #expect(try parser.next() == nil)
            try parser.receive(piece)
        }
        #expect(try parser.next() == nil)
        try parser.receive(piece)
        let error = #expect(throws: XMPPStreamError.self) { try parser.next() }
        #expect(error?.condition == .policyViolation)
    }
}
